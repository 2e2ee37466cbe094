import { describe, expect, it } from "vitest";
import { decodeProtobuf } from "./protobuf-body.ts";

const field = (number: number, bytes: string | Buffer): Buffer => {
  const content = Buffer.from(bytes);
  return Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content]);
};
const number = (key: number, value: number): Buffer => {
  const bytes = [key * 8];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest < 128 ? rest : (rest % 128) + 128);
    if (rest < 128) return Buffer.from(bytes);
  }
};
const message = (...fields: readonly Buffer[]): Buffer => Buffer.concat(fields);
const body = (apiVersion: string, kind: string, object: Buffer): Buffer =>
  message(Buffer.from("k8s\u0000"), field(1, message(field(1, apiVersion), field(2, kind))), field(2, object));

describe("a protobuf body", () => {
  it("of a Secret becomes the JSON that a client would have sent", () => {
    const label = message(field(1, "app"), field(2, "web"));
    const metadata = message(field(1, "s"), field(2, ""), field(3, "default"), field(11, label));
    const data = message(field(1, "token"), field(2, Buffer.from([1, 2, 3])));
    const secret = message(field(1, metadata), field(2, data), field(3, "Opaque"));
    expect(decodeProtobuf(body("v1", "Secret", secret))).toEqual({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s", namespace: "default", labels: { app: "web" } },
      data: { token: "AQID" },
      type: "Opaque",
    });
  });

  it("of a Lease has its times and numbers", () => {
    const renewTime = message(number(1, 1_580_608_800), number(2, 1_000_000));
    const spec = message(field(1, "me"), number(2, 15), field(4, renewTime));
    const lease = message(field(1, field(1, "l")), field(2, spec));
    expect(decodeProtobuf(body("coordination.k8s.io/v1", "Lease", lease))).toMatchObject({
      spec: { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: "2020-02-02T02:00:00.001000Z" },
    });
  });

  it("of the options of a deletion has its preconditions", () => {
    const options = field(2, message(field(1, "uid-1"), field(2, "7")));
    expect(decodeProtobuf(body("v1", "DeleteOptions", options))).toMatchObject({
      preconditions: { uid: "uid-1", resourceVersion: "7" },
    });
  });

  it("of a type that is not known is refused", () => {
    expect(() => decodeProtobuf(body("apps/v1", "Deployment", Buffer.alloc(0)))).toThrow("unknown format");
  });

  it("that is no protobuf, or cut short, is refused", () => {
    expect(() => decodeProtobuf(Buffer.from("{}"))).toThrow("does not appear to be");
    const whole = body("v1", "Secret", field(1, field(1, "s")));
    expect(() => decodeProtobuf(whole.subarray(0, whole.length - 2))).toThrow("cut short");
  });
});
