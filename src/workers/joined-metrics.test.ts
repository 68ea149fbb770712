import { expect, test } from "bun:test";
import { Metrics } from "../telemetry/metrics.ts";
import { joinMetrics } from "./joined-metrics.ts";

const textOf = (value: number) =>
  `# HELP a_total A, with {braces}.\n# TYPE a_total counter\na_total{status="200"} ${value}\na_total{status="404"} 1\n` +
  `# HELP b B.\n# TYPE b gauge\nb ${value}\n`;

test("each sample is labelled with its worker, and each metric is described once before its samples", () => {
  const exposed = [
    { worker: 1, text: textOf(5) },
    { worker: 2, text: textOf(7) },
  ];
  expect(joinMetrics(exposed)).toBe(
    [
      "# HELP a_total A, with {braces}.",
      "# TYPE a_total counter",
      'a_total{worker="1",status="200"} 5',
      'a_total{worker="1",status="404"} 1',
      'a_total{worker="2",status="200"} 7',
      'a_total{worker="2",status="404"} 1',
      "# HELP b B.",
      "# TYPE b gauge",
      'b{worker="1"} 5',
      'b{worker="2"} 7',
      "",
    ].join("\n"),
  );
});

test("a metric that only some workers have is included, as during a restart with another release", () => {
  const joined = joinMetrics([
    { worker: 1, text: "# HELP a A.\n# TYPE a gauge\na 1\n" },
    { worker: 2, text: "# HELP b B.\n# TYPE b gauge\nb 2\n# HELP a A.\n# TYPE a gauge\na 3\n" },
  ]);
  expect(joined).toBe(
    '# HELP a A.\n# TYPE a gauge\na{worker="1"} 1\na{worker="2"} 3\n# HELP b B.\n# TYPE b gauge\nb{worker="2"} 2\n',
  );
});

test("all that a process exposes is included", () => {
  const metrics = new Metrics();
  metrics.request("listPets", 200, 0.001);
  metrics.gauge("petstore_gauge", "A gauge.", () => 3);
  const text = metrics.expose();
  expect(
    joinMetrics([{ worker: 4, text }])
      .replaceAll(/\{worker="4"(,)?/g, (_all, comma) => (comma ? "{" : "{}"))
      .replaceAll("{}}", ""),
  ).toBe(text);
});
