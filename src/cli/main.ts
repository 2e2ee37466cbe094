import type { Command } from "commander";
import { demoCommand } from "./demo.ts";
import { operatorCommand } from "./operator.ts";
import { programOf } from "./program.ts";
import { sandboxCommand } from "./sandbox.ts";

/** The CLI: every command. */
export const program = (): Command => programOf([demoCommand(), sandboxCommand(), operatorCommand()]);
