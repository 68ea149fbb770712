// What every operation must do. A new operation is tested here without further code.
import { domains } from "../../src/app/domains.ts";
import { everyOperation } from "../conformance/every-operation.ts";
import { TestService } from "../harness/service.ts";
import { secretKey } from "../harness/webhook-service.ts";

everyOperation(
  domains.flatMap(({ operations }) => operations),
  () => TestService.start({ settings: { PETSTORE_SECRET_KEY: secretKey } }),
);
