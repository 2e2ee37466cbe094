// `npm run proto`: makes src/mesh-node/gen from proto/. A test fails while it is not up to date.
import { generateProto } from "./generate-proto.ts";

generateProto(".");
