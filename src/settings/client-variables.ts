import { optionalSetting, setting } from "./setting.ts";

/**
 * The variables of commands that are clients of a service, with the names that the client package uses. They are not
 * options, so that keys do not appear in the list of processes.
 */
export const clientVariables = {
  PETSTORE_KEY: optionalSetting<string>({
    meaning: "The key of the command; `listen` needs a test key.",
    expects: "an API key such as psk_test_…",
    parse: (text) => (/^[!-~]+$/.test(text) ? text : undefined),
    isSecret: true,
  }),
  PETSTORE_URL: setting<string>({
    meaning: "The service that the command calls.",
    fallback: "http://127.0.0.1:8080/v1",
    expects: "an http or https URL that ends with /v1",
    parse: (text) => {
      const url = text.replace(/\/+$/, "");
      return /^https?:\/\/.+\/v1$/.test(url) && URL.canParse(url) ? url : undefined;
    },
  }),
};
