import {
  type ChannelCredentials,
  type Client,
  credentials,
  loadPackageDefinition,
  type ServiceError,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

type Message = Readonly<Record<string, unknown>>;
type Unary = (request: Message, done: (error: ServiceError | null, answer: Message) => void) => void;
type Stream = (request: Message) => AsyncIterable<Message> & { cancel(): void };
type Constructor = new (address: string, credentials: ChannelCredentials) => Client & Record<string, Unary & Stream>;

export interface GrpcClient {
  call(method: string, request?: Message): Promise<Message>;
  stream(method: string, request: Message): AsyncIterable<Message> & { cancel(): void };
  close(): void;
}

/** A client that knows only the proto file: another implementation of gRPC than the server's. */
export function grpcClient(address: string): GrpcClient {
  const definition = loadSync("peat/sidecar/v1/sidecar.proto", {
    includeDirs: ["proto"],
    keepCase: true,
    enums: String,
    longs: Number,
  });
  const { peat } = loadPackageDefinition(definition) as unknown as {
    peat: { sidecar: { v1: { PeatSidecar: Constructor } } };
  };
  const client = new peat.sidecar.v1.PeatSidecar(address, credentials.createInsecure());
  return {
    call: (method, request = {}) =>
      new Promise((resolve, reject) => {
        client[method]?.(request, (error, answer) => (error ? reject(error) : resolve(answer)));
      }),
    stream: (method, request) => {
      const stream = client[method]?.(request);
      if (!stream) throw new Error(`no method ${method}`);
      return stream;
    },
    close: () => client.close(),
  };
}
