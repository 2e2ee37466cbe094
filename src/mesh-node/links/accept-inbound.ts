import type { EndpointId } from "../identity.ts";
import type { LinkReason } from "../reasons.ts";
import { type Connection, closeCodes, type Transport } from "../transport/transport.ts";

export interface InboundOptions {
  readonly transport: Transport;
  readonly isRefused: (peer: EndpointId) => boolean;
  /** Makes a link of the connection, or tells why not. */
  readonly greet: (connection: Connection) => Promise<LinkReason | undefined>;
  readonly onRefused: (peer: EndpointId, reason: LinkReason) => void;
}

/** Connections that have not proven their formation yet. More are sent away. */
const maxGreetings = 64;

/** Takes every inbound connection until the transport is closed and the last greeting is over. */
export async function acceptInbound(options: InboundOptions): Promise<void> {
  const { transport, isRefused } = options;
  const greetings = new Set<Promise<void>>();
  for (let connection = await transport.accept(); connection; connection = await transport.accept()) {
    if (isRefused(connection.remote)) connection.close(closeCodes.notWanted);
    else if (greetings.size >= maxGreetings) connection.close(closeCodes.busy);
    else {
      const greeting = admit(connection, options);
      greetings.add(greeting);
      void greeting.finally(() => greetings.delete(greeting));
    }
  }
  await Promise.all(greetings);
}

async function admit(connection: Connection, { greet, onRefused }: InboundOptions): Promise<void> {
  const reason = await greet(connection);
  if (reason) onRefused(connection.remote, reason);
}
