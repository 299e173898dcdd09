import { make } from "./dom.js";
import { form } from "./form.js";
import { Game } from "./game.js";
import { questions } from "./questions.js";
import { reveal } from "./reveal.js";
import { closed, consent, instructions, lobby, ready, thanks } from "./stages.js";
import { tutorial } from "./tutorial.js";

// All that participants can be shown, by stage: each makes { title, element } from what the server says

export const STAGES = { consent, instructions, tutorial, lobby, ready, game: (data, seat) => new Game(data, seat), reveal, questions, form, thanks, closed };
export const unknown = (data) => ({ title: "otherminds", element: make("p", {}, data?.text || "Please load this page again.") });
