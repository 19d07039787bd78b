// ICM's plugin for {{title}}; written by icm init, taken out by icm uninstall.
// It runs ICM's hook command and passes on what that answers. When the program is gone
// or slow, it does nothing.
import { spawn, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"

const PYTHON = {{python}}
const HOOK = {{hook}}
const SECONDS = { start: 10, prompt: 5, pre: 5, post: 10, compact: 30, end: 3 }
// A session counts as ended after so long without a word.
const REST_MS = 10 * 60 * 1000
const MOST_MESSAGES = 100
const MOST_CHARS = 20000

const words = (verb) => ["-I", "-S", HOOK, verb, "--tool", "{{tool}}"]

// The answer of one hook: {"context": "..."}, {"allow": true}, or {} for nothing.
function ask(verb, payload) {
  return new Promise((resolve) => {
    if (!existsSync(PYTHON) || !existsSync(HOOK)) return resolve({})
    let said = ""
    let child
    try {
      child = spawn(PYTHON, words(verb), {
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

// What was said last in each session, kept when its agent rests: a session that is
// deleted, or whose program ends, cannot be read any more.
const said = new Map()

process.once("exit", () => {
  for (const asked of [...said.values()].slice(-3)) {
    if (!existsSync(PYTHON) || !existsSync(HOOK)) return
    spawnSync(PYTHON, words("end"), {
      input: JSON.stringify(asked),
      stdio: ["pipe", "ignore", "ignore"],
      timeout: 1500,
      windowsHide: true,
    })
  }
})

const end = (text) => (typeof text === "string" ? text.slice(-MOST_CHARS) : undefined)

// Of messages, what a memory can come from.
const brief = (rows) =>
  rows.slice(-MOST_MESSAGES).map(({ info, parts }) => ({
    info: { id: info?.id, role: info?.role, time: info?.time },
    parts: (parts ?? [])
      .filter((part) => part?.type === "text" || part?.type === "tool")
      .map(({ type, text, synthetic, tool, state }) =>
        type === "text"
          ? { type, text: end(text), synthetic }
          : { type, tool, state: { output: end(state?.output), error: end(state?.error) } },
      ),
  }))

const IcmPlugin = async ({ client, directory }) => {
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
      return brief(answer?.data ?? answer ?? [])
    } catch {
      return []
    }
  }

  const timers = new Map()
  const ended = async (id, event) => {
    clearTimeout(timers.get(id))
    timers.delete(id)
    const asked = said.get(id)
    said.delete(id)
    if (asked) await ask("end", { ...asked, hook_event_name: event })
  }

  const rested = async (id) => {
    const found = await messages(id)
    if (!found.length) return
    said.delete(id)
    said.set(id, {
      hook_event_name: "session.idle",
      cwd: directory,
      session_id: id,
      messages: found,
    })
    clearTimeout(timers.get(id))
    const timer = setTimeout(() => void ended(id, "session.idle"), REST_MS)
    timer.unref?.()
    timers.set(id, timer)
  }

  return {
    event: async ({ event }) => {
      const id = event?.properties?.sessionID ?? event?.properties?.info?.id
      if (!id) return
      if (event.type === "session.idle") await rested(id)
      if (event.type !== "session.deleted") return
      started.delete(id)
      await ended(id, event.type)
    },

    dispose: async () => {
      await Promise.all([...timers.keys()].map((id) => ended(id, "session.idle")))
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

{{export}}
