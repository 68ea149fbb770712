import * as z from "zod";

const petStatus = z.enum(["available", "pending", "sold"]);

export const newPet = z.strictObject({
  name: z.string().min(1).max(255),
  categoryId: z.int(),
  status: petStatus.optional(),
});

export const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  status: petStatus.optional(),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/)
    .optional(),
});
