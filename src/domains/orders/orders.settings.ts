import { setting } from "../../settings/setting.ts";

export const orderSettings = {
  PETSTORE_RESERVATION_MINUTES: setting<number>({
    meaning: "How long a new order reserves its animal, unless it is confirmed or cancelled first.",
    fallback: "15",
    expects: "a whole number of minutes from 1 to 43200, which is 30 days",
    parse: (text) => (/^[1-9][0-9]{0,4}$/.test(text) && Number(text) <= 43_200 ? Number(text) : undefined),
  }),
};
