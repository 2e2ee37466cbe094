// What the operator's image runs: without the sandbox and the demo, which would only make it larger and slower to start.
import { operatorCommand } from "../cli/operator.ts";
import { programOf, runProgram } from "../cli/program.ts";

process.exitCode = await runProgram(programOf([operatorCommand()]), ["operator", ...process.argv.slice(2)]);
