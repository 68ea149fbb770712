import { render } from "preact";
import { App } from "./app.tsx";
import { start } from "./session/session.ts";

start(); // the key is checked while the page renders
render(<App />, document.getElementById("console") as HTMLElement);
