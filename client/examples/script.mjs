// Sells the first available animal, and adds one if there is none.
//   PETSTORE_KEY=psk_test_… PETSTORE_URL=http://127.0.0.1:8080/v1 node script.mjs
import { isErrorOf, Petstore } from "petstore-client";

const petstore = new Petstore();

async function firstAvailable() {
  for await (const pet of petstore.listPets({ status: "available" })) return pet;
  return petstore.createPet({ name: "Rex", categoryId: 1, status: "available" });
}

const pet = await firstAvailable();
try {
  const order = await petstore.placeStoreOrder({ petId: pet.id, reference: "example" });
  const { status } = await petstore.confirmStoreOrder(order.id);
  console.log(`Order ${order.id} for ${pet.name} is ${status}.`);
} catch (error) {
  // Somebody else was faster. The compiler knows all codes that this operation can fail with.
  if (!isErrorOf(error, "placeStoreOrder") || error.code !== "pet_not_available") throw error;
  console.log(error.message);
}
