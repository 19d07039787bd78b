// ICM's plugin for OpenCode; written by icm init, taken out by icm uninstall.
// It runs ICM's hook command and passes on what that answers. When the program is gone
// or slow, it does nothing.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"

const PYTHON = {{python}}
const HOOK = {{hook}}
const SECONDS = { start: 10, prompt: 5, pre: 5, post: 10, compact: 30, end: 3 }

// The answer of one hook: {"context": "..."}, {"allow": true}, or {} for nothing.
function ask(verb, payload) {
  return new Promise((resolve) => {
    if (!existsSync(PYTHON) || !existsSync(HOOK)) return resolve({})
    let said = ""
    let child
    try {
      child = spawn(PYTHON, ["-I", "-S", HOOK, verb, "--tool", "opencode"], {
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      })
    } catch {
      return resolve({})
    }
    const timer = setTimeout(() => child.kill(), SECONDS[verb] * 1000)
    const finish = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(said) ?? {})
      } catch {
        resolve({})
      }
    }
    child.on("error", finish)
    child.on("close", finish)
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (piece) => (said += piece))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
}

export const IcmPlugin = async ({ client, directory }) => {
  // What a session was told at its start: asked for once, then the same bytes each time.
  const started = new Map()

  const payload = (event, input, output, more = {}) => ({
    hook_event_name: event,
    cwd: directory,
    session_id: input?.sessionID,
    input,
    output,
    ...more,
  })

  const messages = async (id) => {
    try {
      const answer = await client.session.messages({ path: { id } })
      return (answer?.data ?? answer ?? []).slice(-100)
    } catch {
      return []
    }
  }

  return {
    event: async ({ event }) => {
      if (event?.type !== "session.deleted") return
      const id = event.properties?.info?.id ?? event.properties?.sessionID
      started.delete(id)
      await ask("end", { hook_event_name: event.type, cwd: directory, session_id: id, event })
    },

    "experimental.chat.system.transform": async (input, output) => {
      const id = input?.sessionID ?? ""
      if (!started.has(id)) {
        started.set(id, ask("start", payload("experimental.chat.system.transform", input, output)))
      }
      const { context } = await started.get(id)
      if (context) output.system.push(context)
    },

    "chat.message": async (input, output) => {
      const { context } = await ask("prompt", payload("chat.message", input, output))
      if (!context) return
      output.parts.push({
        id: `prt_icm${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`,
        sessionID: output.message?.sessionID ?? input.sessionID,
        messageID: output.message?.id ?? input.messageID,
        type: "text",
        text: context,
        synthetic: true,
      })
    },

    "permission.ask": async (input, output) => {
      if (input?.type !== "bash") return
      const { allow } = await ask("pre", payload("permission.ask", input, output))
      if (allow === true) output.status = "allow"
    },

    "tool.execute.after": async (input, output) => {
      // Not waited for: the agent goes on while facts are found.
      void ask("post", payload("tool.execute.after", input, output))
    },

    "experimental.session.compacting": async (input, output) => {
      const found = await messages(input?.sessionID)
      const asked = payload("experimental.session.compacting", input, output, { messages: found })
      const { context } = await ask("compact", asked)
      if (context) output.context.push(context)
    },
  }
}
