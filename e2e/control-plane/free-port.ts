import { createServer } from "node:net";

/** Below the range from which the kernel takes ports for outgoing connections: a stopped server's port stays free. */
const lowest = 20_000;
const highest = 32_000;

/** A port on which nothing listens now. Another process may take it before you do: be ready to try again. */
export async function freePort(address: string): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await isFree(address, port)) return port;
  }
  throw new Error(`no free port on ${address} between ${lowest} and ${highest}`);
}

function isFree(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
}
