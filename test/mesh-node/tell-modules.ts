// `node --import`: says on standard error which modules a program loads.
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";

registerHooks({
  load: (url, context, next) => {
    writeSync(2, `${JSON.stringify({ msg: "module loaded", url })}\n`);
    return next(url, context);
  },
});
