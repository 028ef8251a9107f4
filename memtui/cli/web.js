// Keys go to the terminal from the start, and when the window is come back to.
function listen() {
  document.querySelector(".xterm-helper-textarea")?.focus();
}
addEventListener("load", listen);
addEventListener("focus", listen);
