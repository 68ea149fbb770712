const circle = (x: number, y: number, radius: number) =>
  `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${radius * 2} 0 ${radius} ${radius} 0 1 0-${radius * 2} 0`;

/** Lines on a field of 24 by 24. */
const icons = {
  add: "M12 5v14M5 12h14",
  animals: `M12 12.2c-2.9 0-5.3 2.6-5.3 4.9 0 1.6 1.1 2.4 2.5 2.4 1.2 0 1.8-.5 2.8-.5s1.6.5 2.8.5c1.4 0 2.5-.8 2.5-2.4 0-2.3-2.4-4.9-5.3-4.9z${circle(4.7, 11, 1.6)}${circle(9, 6.3, 1.7)}${circle(15, 6.3, 1.7)}${circle(19.3, 11, 1.6)}`,
  back: "M15 5l-7 7 7 7",
  categories: "M4 4h7.5l8.5 8.5-7.5 7.5L4 11.5zM8.2 8.2h.01",
  close: "M6 6l12 12M18 6L6 18",
  events: "M13 3L5 14h6l-1 7 9-11h-6z",
  export: "M12 4v11M8 11l4 4 4-4M5 20h14",
  import: "M12 15V4M8 8l4-4 4 4M5 20h14",
  keys: `${circle(8, 16, 4)}M11 13l9-9M16 8l3 3`,
  more: `${circle(5, 12, 0.7)}${circle(12, 12, 0.7)}${circle(19, 12, 0.7)}`,
  next: "M9 5l7 7-7 7",
  orders: "M5 8h14l-1 12H6zM9 8V7a3 3 0 0 1 6 0v1",
  requests: "M4 6h16M4 12h16M4 18h9",
  sales: "M4 4v16h16M9 16v-5M13 16V7M17 16v-3",
  sandbox: "M9 4h6M10 4v6l-5.5 9.5h15L14 10V4",
  search: `${circle(10.5, 10.5, 6.5)}M15.5 15.5L20 20`,
  sell: `M4 5h2l2.2 10.5h9.6L20 8H7${circle(9.5, 19, 1.2)}${circle(16.5, 19, 1.2)}`,
  switch: "M8 9l4-4 4 4M8 15l4 4 4-4",
  today: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
  usage: "M4 18a8.5 8.5 0 1 1 16 0M12 17l4-6",
  webhooks: `${circle(12, 6, 2.5)}${circle(6, 17.5, 2.5)}${circle(18, 17.5, 2.5)}M10.8 8.2L7.2 15.3M13.2 8.2l3.6 7.1M8.5 17.5h7`,
} as const;

export type IconName = keyof typeof icons;

/** A drawing beside or instead of a word. It says nothing itself. */
export function Icon({ of }: { readonly of: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={icons[of]} />
    </svg>
  );
}
