import { program } from "../cli/main.ts";
import { runProgram } from "../cli/program.ts";

process.exitCode = await runProgram(program(), process.argv.slice(2));
