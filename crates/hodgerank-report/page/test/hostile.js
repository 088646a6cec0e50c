/** Labels that try to break out of their text. */
export const HOSTILE = [
  "<script>alert(1)</script>",
  "</script><script>alert(2)</script>",
  '"><img src=x onerror=alert(3)>',
  "<!-- <script>",
  "x".repeat(10000),
  "W ".repeat(5000),
  "קפה שחור",
  "\u202eevil\u202c",
  "☕👩‍👩‍👧‍👦🏳️‍🌈",
  'it\'s "quoted" & `ticked` \u0024{name} {{style}} $&',
  "two\nlines\tand\u0000a null",
  "__proto__",
  "",
];
