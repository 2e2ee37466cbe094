// Installs the locked dependencies once, before npm start, npm test and the other scripts.
// Plain JavaScript for Node 18+: the Node that runs the product (24) is itself one of the dependencies.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const marker = join(root, "node_modules", ".bootstrap");
const lock = join(root, ".bootstrap.lock");
const lockIsStaleAfterMs = 10 * 60_000;

const wanted = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .update(`${process.platform}-${process.arch}`)
  .digest("hex");

const isInstalled = () => existsSync(marker) && readFileSync(marker, "utf8") === wanted;

/** Not `npm ci`: it refuses the lockfile when a registry lacks the binary of some foreign platform. */
function install() {
  const words = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  const done = spawnSync("npm", words, { cwd: root, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
  if (done.status !== 0) {
    process.stderr.write("bootstrap: npm install failed (see above); check the registry and run the command again\n");
    process.exit(1);
  }
  writeFileSync(marker, wanted);
}

/** The lock is a directory: making one is atomic everywhere. A lock left by a killed run goes stale. */
function takeLock() {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    const held = statSync(lock, { throwIfNoEntry: false });
    if (held && Date.now() - held.mtimeMs > lockIsStaleAfterMs) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}

async function bootstrap() {
  while (!isInstalled()) {
    if (takeLock()) {
      try {
        process.stderr.write("bootstrap: installing dependencies (once)\n");
        install();
      } finally {
        rmSync(lock, { recursive: true, force: true });
      }
    } else {
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

await bootstrap();
