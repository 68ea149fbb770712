// Every error of every operation, as a client sees it.
import { domains } from "../../src/app/domains.ts";
import { simulatedErrors } from "../conformance/simulated-errors.ts";
import { TestService } from "../harness/service.ts";

simulatedErrors(
  domains.flatMap(({ operations }) => operations),
  () => TestService.start(),
);
