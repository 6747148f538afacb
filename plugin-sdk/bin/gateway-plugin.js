#!/usr/bin/env node
// A file of its own, so that it is there before anything is built.
import { runCommand } from '../dist/testing/command.js';

process.exitCode = await runCommand(process.argv.slice(2));
