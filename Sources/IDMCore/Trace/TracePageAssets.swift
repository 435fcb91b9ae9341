/// The style sheet and the script of a trace's page.
enum TracePageAssets {
    static let style = """
        :root { --names: 160px; --text: #1c2128; --dim: #5b6470; --line: #e3e6ea; --ground: #fff; --bar: #f6f7f9;
            --success: #cdeed8; --success-edge: #23874b; --failure: #fbd5d2; --failure-edge: #c4322a;
            --cancelled: #e5e7ea; --cancelled-edge: #7d8590; --open: #d6e4fd; --open-edge: #2f6fd6;
            --ended: #e4e1f6; --ended-edge: #7565bd; --waits: #e0a020; --runs: #2f6fd6 }
        @media (prefers-color-scheme: dark) {
            :root { --text: #e6e9ed; --dim: #9aa4b0; --line: #2a3038; --ground: #14171b; --bar: #1c2026;
                --success: #17412a; --success-edge: #46b876; --failure: #55211f; --failure-edge: #f0716a;
                --cancelled: #32373e; --cancelled-edge: #8b949e; --open: #1b3257; --open-edge: #6ea2f5;
                --ended: #2f2a4d; --ended-edge: #a497e8; --waits: #e3ab3a; --runs: #6ea2f5 }
        }
        * { box-sizing: border-box }
        body { font: 14px/1.4 system-ui, sans-serif; margin: 0; color: var(--text); background: var(--ground);
            display: flex; flex-direction: column; height: 100vh; height: 100dvh }
        header { padding: 12px 16px 4px; max-height: 50vh; overflow: auto; flex: none }
        h1 { font-size: 18px; margin: 0 0 6px; overflow-wrap: anywhere }
        p { margin: 0 0 6px }
        .note, #zoom span { color: var(--dim); font-size: 13px }
        #legend { display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 0 0 8px; padding: 0; list-style: none;
            font-size: 13px; color: var(--dim) }
        #legend i { display: inline-block; width: 12px; height: 12px; margin-right: 5px; vertical-align: -1px }
        #legend .waits i, #legend .runs i { height: 6px; vertical-align: 2px }
        #legend .mark i { width: 2px; margin-left: 5px }
        #legend b { color: var(--text); font-weight: 600 }
        button { font: inherit; min-width: 34px; min-height: 30px; padding: 2px 10px; color: var(--text);
            background: var(--bar); border: 1px solid var(--cancelled-edge); border-radius: 6px }
        #flow { flex: 1 1 auto; min-height: 120px; overflow: auto; border-top: 1px solid var(--line);
            touch-action: pan-x pan-y; overscroll-behavior-x: contain }
        #lanes { width: calc(var(--names) + (100% - var(--names) - 16px) * var(--zoom, 1)); padding-bottom: 8px }
        .row { display: flex; border-bottom: 1px solid var(--line) }
        .name { flex: 0 0 var(--names); min-width: 0; display: flex; padding: 0 8px 0 16px; white-space: pre; position: sticky;
            left: 0; z-index: 2; background: var(--ground); line-height: 36px; font-size: 13px }
        .name span { overflow: hidden; text-overflow: ellipsis }
        .time { flex: 1; position: relative; height: 36px;
            background: linear-gradient(to right, var(--line) 1px, transparent 1px) 0 0 / var(--step) 100% }
        #axis { position: sticky; top: 0; z-index: 4; background: var(--ground); font-size: 12px; color: var(--dim) }
        #axis .name, #axis .time { line-height: 24px; height: 24px }
        #axis b { position: absolute; font-weight: 400; padding-left: 4px; white-space: nowrap }
        .time > i { position: absolute; font-style: normal; min-width: 3px }
        .whole { top: 3px; height: 29px; font-size: 12px; line-height: 18px; border-radius: 3px; overflow: clip;
            white-space: nowrap }
        .whole > span { position: sticky; left: var(--names); display: inline-block; max-width: 100%; padding: 0 4px;
            overflow: hidden; text-overflow: ellipsis; vertical-align: top }
        .whole em { font-style: normal; opacity: 0.75 }
        .part { top: 23px; height: 8px; border-radius: 2px }
        .time > .mark { top: 21px; height: 14px; width: 2px; min-width: 2px; z-index: 1 }
        .time > i:hover, .time > i.chosen { outline: 2px solid var(--text) }
        .success { --fill: var(--success); --edge: var(--success-edge) }
        .failure { --fill: var(--failure); --edge: var(--failure-edge) }
        .cancelled { --fill: var(--cancelled); --edge: var(--cancelled-edge) }
        .open { --fill: var(--open); --edge: var(--open-edge) }
        .ended { --fill: var(--ended); --edge: var(--ended-edge) }
        .whole, #legend i { background: var(--fill); border: 1px solid var(--edge); border-radius: 3px }
        .whole.failure, #legend .failure i { border-left-width: 3px }
        .whole.cancelled, #legend .cancelled i { border-style: dashed }
        .whole.open { border-right-style: dotted }
        .part { background: var(--edge, var(--runs)) }
        .part.waits, #legend .waits i { border: 0; background: repeating-linear-gradient(135deg, var(--waits) 0 4px,
            color-mix(in srgb, var(--waits) 60%, transparent) 4px 7px) }
        .part.runs, #legend .runs i { border: 0; background: var(--runs) }
        .time > .mark, #legend .mark i { border: 0; border-radius: 0; background: var(--text) }
        .time > i.mark.failure { background: var(--failure-edge) }
        #detail { flex: none; padding: 8px 16px; border-top: 1px solid var(--line); background: var(--bar);
            overflow-wrap: anywhere; max-height: 25vh; overflow: auto }
        @media (max-width: 640px) {
            :root { --names: 0px }
            .row { display: block }
            .name { width: calc(100vw - 20px); padding: 4px 0 0; left: 8px; line-height: 20px; color: var(--dim) }
            #axis .name, #zoom span { display: none }
            #lanes { margin-left: 8px }
            header, #detail { padding-left: 8px; padding-right: 8px }
            button { min-width: 44px; min-height: 44px }
        }
        """

    static let script = """
        const flow = document.getElementById('flow'), lanes = document.getElementById('lanes')
        const axis = document.querySelector('#axis .time'), detail = document.getElementById('detail')
        const length = Number(lanes.dataset.length)
        let zoom = 1, chosen = null

        function text(time) {
            if (time === 0) return '0'
            const units = [[1e6, 's'], [1e3, 'ms'], [1, 'µs'], [1e-3, 'ns']]
            const [size, name] = units.find(unit => time >= unit[0]) || [1, 'µs']
            return Number((time / size).toPrecision(6)) + ' ' + name
        }

        // Labels are 80 pixels apart at least. Only those in sight are written.
        function draw() {
            if (!(length > 0)) return
            const width = axis.clientWidth, least = length * 80 / width
            const power = Math.pow(10, Math.floor(Math.log10(least)))
            const step = [1, 2, 5, 10].map(digit => digit * power).find(step => step >= least)
            lanes.style.setProperty('--step', step / length * 100 + '%')
            const first = Math.max(0, Math.floor(flow.scrollLeft / width * length / step) - 1)
            const last = Math.min(length / step, first + flow.clientWidth / width * length / step + 3)
            const labels = []
            for (let number = first; number <= last; number++) {
                const at = number * step / length
                if (at * width + 48 > width && number) continue
                const label = document.createElement('b')
                label.style.left = at * 100 + '%'
                label.textContent = text(number * step)
                labels.push(label)
            }
            axis.replaceChildren(...labels)
        }

        // The time below `x` stays there.
        function setZoom(next, x = flow.clientWidth / 2) {
            const names = axis.offsetLeft - lanes.offsetLeft
            const at = (flow.scrollLeft + x - names) / axis.clientWidth
            zoom = Math.max(1, Math.min(next, 1e7 / flow.clientWidth, Math.max(1, length * 10)))
            lanes.style.setProperty('--zoom', zoom)
            flow.scrollLeft = at * axis.clientWidth + names - x
            draw()
        }

        function choose(entry) {
            if (chosen) chosen.classList.remove('chosen')
            chosen = entry
            if (!entry) return
            entry.classList.add('chosen')
            detail.textContent = entry.title
        }

        function step(offset) {
            const entries = [...document.querySelectorAll('.time > i')]
            choose(entries[entries.indexOf(chosen) + offset] || chosen)
            if (chosen) chosen.scrollIntoView({ block: 'nearest', inline: 'center' })
        }

        const entry = event => event.target.closest('.time > i')
        flow.addEventListener('click', event => choose(entry(event)))
        flow.addEventListener('dblclick', event => {
            const bar = entry(event)
            if (!bar || !bar.offsetWidth) return
            const middle = (bar.offsetLeft + bar.offsetWidth / 2) / axis.clientWidth
            setZoom(zoom * flow.clientWidth * 0.6 / bar.offsetWidth)
            flow.scrollLeft = middle * axis.clientWidth + (axis.offsetLeft - lanes.offsetLeft - flow.clientWidth) / 2
        })
        document.getElementById('zoom').addEventListener('click', event => {
            const factor = event.target.dataset.zoom
            if (factor) setZoom(factor === '0' ? 1 : zoom * Number(factor))
        })
        document.addEventListener('keydown', event => {
            if (event.ctrlKey || event.metaKey || event.altKey) return
            switch (event.key) {
            case '+': case '=': setZoom(zoom * 1.5); break
            case '-': case '−': setZoom(zoom / 1.5); break
            case '0': setZoom(1); break
            case 'ArrowLeft': flow.scrollLeft -= flow.clientWidth / 8; break
            case 'ArrowRight': flow.scrollLeft += flow.clientWidth / 8; break
            case 'n': step(1); break
            case 'p': step(-1); break
            default: return
            }
            event.preventDefault()
        })
        // A pinch on a trackpad is a wheel with the control key.
        flow.addEventListener('wheel', event => {
            if (!event.ctrlKey) return
            event.preventDefault()
            setZoom(zoom * Math.exp(-event.deltaY / 150), event.clientX - flow.getBoundingClientRect().left)
        }, { passive: false })
        let pinch = null
        const spread = touches => Math.hypot(
            touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY)
        flow.addEventListener('touchstart', event => {
            pinch = event.touches.length === 2 ? { zoom, spread: spread(event.touches) } : null
        }, { passive: true })
        flow.addEventListener('touchmove', event => {
            if (!pinch || event.touches.length !== 2) return
            event.preventDefault()
            const middle = (event.touches[0].clientX + event.touches[1].clientX) / 2
            setZoom(pinch.zoom * spread(event.touches) / pinch.spread, middle - flow.getBoundingClientRect().left)
        }, { passive: false })
        flow.addEventListener('scroll', draw, { passive: true })
        addEventListener('resize', draw)
        draw()
        """
}
