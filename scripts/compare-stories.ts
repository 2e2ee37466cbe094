// `npm run ci` ends with this: the stories that passed on embedded clusters and on real API servers are the same.
import { readFileSync } from "node:fs";
import { differencesOf, passedStoriesVariable } from "../test/stories/passed-stories.ts";

const file = process.env[passedStoriesVariable];
if (!file) throw new Error(`${passedStoriesVariable} names no file`);
const notes = readFileSync(file, "utf8");
const differences = differencesOf(notes, ["sandbox", "real"]);
const count = new Set(notes.split("\n").filter((line) => line.startsWith("real\t"))).size;
console.log(differences.length > 0 ? differences.join("\n") : `the same ${count} stories passed on sandbox and real`);
process.exitCode = differences.length === 0 ? 0 : 1;
