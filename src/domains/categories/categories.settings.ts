import { setting, trueOrFalse } from "../../settings/setting.ts";

export const categorySettings = {
  PETSTORE_STRICT_CATEGORIES: setting<boolean>({
    meaning: "Whether `createPet` refuses a `categoryId` without a category. Existing animals keep theirs.",
    fallback: "false",
    ...trueOrFalse,
  }),
};
