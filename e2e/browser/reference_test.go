package browser

import (
	"fmt"
	"testing"
)

// openReference opens the API reference in a new tab.
func (s *service) openReference(v view) *tab {
	s.t.Helper()
	b := newTab(s.t, v)
	b.open(s.base + "/docs")
	return b
}

func TestReference_Accessible(t *testing.T) {
	t.Parallel()
	// The API reference meets WCAG 2.2 AA, light and dark: nothing is wider than a small phone, the keyboard reaches all
	// that scrolls, and the focus is seen. The rules of axe are checked on a part of each section, for they take minutes on all.
	s := startService(t)
	for _, v := range []view{{width: 360, height: 740, script: true}, {width: 1300, height: 900, dark: true, script: true}} {
		b := s.openReference(v)
		name := fmt.Sprintf("the reference at %d pixels", v.width)
		b.evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; }); ""`)
		for problem, expression := range map[string]string{
			"wider than the page": `e.getBoundingClientRect().right > innerWidth + 1`,
			"scrolled, but not with the keyboard": `(/auto|scroll/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth ||
				/auto|scroll/.test(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight) &&
				!(e.tabIndex === 0 && e.role && e.ariaLabel) && !e.matches("nav")`, // which is full of links
		} {
			if found := b.evaluate(`[...document.querySelectorAll("body *")].filter((e) => ` + expression +
				`).slice(0, 20).map((e) => e.outerHTML.slice(0, 100)).join("\n")`); found != "" {
				t.Errorf("%s: these are %s:\n%s", name, problem, found)
			}
		}
		if found := b.evaluate(`["#find", "nav a", "main a", ".show", "summary", "button"].filter((selector) => {
				const e = document.querySelector(selector);
				e.focus({focusVisible: true});
				return getComputedStyle(e).outlineStyle !== "solid";
			}).join(", ")`); found != "" {
			t.Errorf("%s: the focus is not seen on %s", name, found)
		}

		b.evaluate(`document.querySelectorAll(".operation:not(:first-of-type), .object:nth-of-type(n+5), .fields > :nth-child(n+5)").
			forEach((e) => e.remove()); ""`)
		b.check(name)
		b.wantNoComplaints()
	}
}
