import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { binary } from "./binaries.ts";

export interface ToolOptions {
  readonly kubeconfigFile: string;
  /** What the tool reads from stdin. */
  readonly input?: string;
  readonly timeoutMs?: number;
}

export interface ToolResult {
  readonly stdout: string;
  readonly stderr: string;
  /** -1 when it was ended because it took too long. */
  readonly code: number;
}

/** Runs kubectl; a failure of the command is a result, not an error. */
export function kubectl(args: readonly string[], options: ToolOptions): Promise<ToolResult> {
  return run(binary("kubectl"), args, options);
}

/** Runs helm; a failure of the command is a result, not an error. */
export function helm(args: readonly string[], options: ToolOptions): Promise<ToolResult> {
  return run(binary("helm"), args, options);
}

async function run(program: string, args: readonly string[], options: ToolOptions): Promise<ToolResult> {
  const cache = join(dirname(options.kubeconfigFile), "cache");
  const child = spawn(program, args, {
    env: {
      ...process.env,
      KUBECONFIG: options.kubeconfigFile,
      KUBECACHEDIR: cache,
      HELM_CACHE_HOME: cache,
      HELM_CONFIG_HOME: cache,
      HELM_DATA_HOME: cache,
    },
    timeout: options.timeoutMs ?? 60_000,
    killSignal: "SIGKILL",
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve(code ?? -1));
  });
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, code };
}
