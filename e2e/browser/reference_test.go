package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// openReference opens the API reference in a new tab.
func (s *service) openReference(v view) *tab {
	s.t.Helper()
	b := newTab(s.t, v)
	b.open(s.base + "/docs")
	return b
}

// search looks for a text in the reference. It returns what the page says about the result, and the addresses it links.
func (b *tab) search(text string) (said string, links []string) {
	b.t.Helper()
	said = b.evaluate(fmt.Sprintf(`find.value = %q; find.dispatchEvent(new Event("input")); document.querySelector("[role=status]").innerText`, text))
	return said, strings.Fields(b.evaluate(
		`[...document.querySelectorAll("nav a.op")].filter((a) => a.checkVisibility()).map((a) => a.getAttribute("href")).join(" ")`))
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
		if found := b.evaluate(`["#find", "nav a", "main a", ".show", "summary", "select", "figure:not([hidden]) button"].filter((selector) => {
				const e = document.querySelector(selector);
				e.focus({focusVisible: true});
				return getComputedStyle(e).outlineStyle !== "solid";
			}).join(", ")`); found != "" {
			t.Errorf("%s: the focus is not seen on %s", name, found)
		}

		b.search("status")
		b.evaluate(`document.querySelectorAll(".operation:not(:first-of-type), .object:nth-of-type(n+5), .fields > :nth-child(n+5)").
			forEach((e) => e.remove()); ""`)
		b.check(name)
		b.wantNoComplaints()
	}
}

func TestReference_SearchFindsEveryKind(t *testing.T) {
	t.Parallel()
	// The search finds operations, fields, error codes, webhook types, test values and guides, in any case of letters, and says
	// so when it finds nothing. What is found is shown at its address, also in another tab.
	s := startService(t)
	b := s.openReference(view{width: 1300, height: 900, script: true})

	for _, c := range []struct{ text, said, link string }{
		{"execute a quote", "2 operations", "#executeQuote"},
		{"PATCH /config", "1 operation", "#updatePlatformConfig"},
		{"webhookEndpoint", "fields", "#updatePlatformConfig.webhookEndpoint"},
		{"embeddedwallet", "fields", "#updatePlatformConfig.embeddedWalletConfig"},
		{"quote_expired", "error codes", "#executeQuote.QUOTE_EXPIRED"},
		{"RATE_LIMITED", "1 error code", "#top.RATE_LIMITED"},
		{"OUTGOING_PAYMENT.COMPLETED", "1 webhook type", "#outgoingPayment.OUTGOING_PAYMENT.COMPLETED"},
		{"smallest unit currency", "guides", "#top.guide-2"},
		{"unmatched funds", "1 guide", "docs/finance#unmatched-funds"},
		{"success.eur", "1 test value", "docs/getting-started#test-values"},
		{"name check 105", "1 test value", "docs/getting-started#test-values"},
	} {
		said, links := b.search(c.text)
		if !strings.Contains(said, c.said) || !slices.Contains(links, c.link) {
			t.Errorf("%s: the page says %q and links %v; want %q and %s", c.text, said, links, c.said, c.link)
		}
	}
	if said, links := b.search(" no such thing"); !strings.HasPrefix(said, `Nothing matches "no such thing"`) || len(links) > 0 {
		t.Errorf("for what does not exist, the page says %q and links %v", said, links)
	}
	if said, links := b.search(""); said != "" || !slices.Contains(links, "#executeQuote") || !slices.Contains(links, "#outgoingPayment") {
		t.Errorf("without a text, the page says %q and links %v", said, links)
	}

	b.search("transaction.sentAmount.amount")
	b.run(chromedp.Click(chromedp.CSS("#others a")))
	address := b.evaluate("location.href")
	other := newTab(t, b.view)
	other.open(address)
	for _, shown := range []*tab{b, other} {
		if !strings.Contains(address, "#") || shown.evaluate(`((e) => String(e && e.checkVisibility() && e.getBoundingClientRect().top < innerHeight))(
			document.querySelector(":target"))`) != "true" {
			t.Errorf("what was found is not shown at %s", address)
		}
		shown.wantNoComplaints()
	}
}

func TestReference_SearchWithKeyboard(t *testing.T) {
	t.Parallel()
	// With the keyboard alone, a person searches, hears how much was found, goes through it, clears the search, and opens what was
	// found: an operation in the page, and a guide on its own page, which leads back.
	b := startService(t).openReference(view{width: 1300, height: 900, script: true, keyboard: true})
	focused := func() string {
		return b.evaluate(`document.activeElement.getAttribute("href") ?? document.activeElement.id`)
	}
	search := func(text string) {
		b.run(chromedp.KeyEvent("/"))
		if got := focused(); got != "find" {
			t.Fatalf("after /, the focus is on %q", got)
		}
		// The protocol of the browser sends the / also as a character of its own.
		b.run(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(text))
	}
	search("quote execute")
	if said := b.evaluate(`document.querySelector("[role=status]").innerText`); !strings.HasPrefix(said, "2 operations") {
		t.Errorf("the page says %q", said)
	}
	b.run(chromedp.KeyEvent(kb.ArrowDown))
	first := focused()
	b.run(chromedp.KeyEvent(kb.ArrowDown))
	if second := focused(); !strings.HasPrefix(first, "#") || !strings.HasPrefix(second, "#") || second == first {
		t.Errorf("the arrows lead to %q and %q", first, second)
	}
	b.run(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp))
	if got := focused(); got != "find" {
		t.Errorf("the arrows lead back to %q", got)
	}
	b.run(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Escape))
	if got := b.evaluate("find.value + document.activeElement.id"); got != "find" {
		t.Errorf("after Escape, text and focus are %q", got)
	}

	b.run(chromedp.KeyEvent("quote execute"), chromedp.KeyEvent(kb.Enter))
	if got := b.evaluate("location.hash"); got != first {
		t.Errorf("Enter opens %q, want %q", got, first)
	}
	search("bank holidays")
	b.run(chromedp.KeyEvent(kb.Enter))
	b.want("Cut-off times and bank holidays")
	if got := b.evaluate(`location.href + document.querySelector(":target").innerText + document.querySelector("nav a").href`); !strings.Contains(got,
		"/docs/rails#cut-off-times-and-bank-holidaysCut-off times") || !strings.HasSuffix(got, "/2025-10-13/docs") {
		t.Errorf("the guide is at %q", got)
	}
	b.wantNoComplaints()
}

func TestGuides_Accessible(t *testing.T) {
	t.Parallel()
	// Guides meet WCAG 2.2 AA, light and dark, and nothing in them is wider than a small phone.
	s := startService(t)
	for _, v := range []view{{width: 360, height: 740, script: true}, {width: 1300, height: 900, dark: true, script: true}} {
		for _, name := range []string{"getting-started", "customers", "glossary"} {
			b := newTab(t, v)
			b.open(s.base + "/docs/" + name)
			if wide := b.evaluate(`[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).
				slice(0, 5).map((e) => e.outerHTML.slice(0, 200)).join("\n")`); wide != "" {
				t.Errorf("%s at %d pixels: these are wider than the page:\n%s", name, v.width, wide)
			}
			b.check(fmt.Sprintf("%s at %d pixels", name, v.width))
			b.wantNoComplaints()
		}
	}
}

func TestReference_MarksOperationInView(t *testing.T) {
	t.Parallel()
	// The navigation marks the entry of the operation in view, and scrolls to it.
	b := startService(t).openReference(view{width: 1300, height: 900, script: true})
	for _, id := range []string{"executeQuote", "getPlatformConfig", "outgoingPayment", "top"} {
		b.evaluate(fmt.Sprintf(`location.hash = %q`, id))
		eventually(t, "the entry of "+id, func() bool {
			return b.evaluate(`[...document.querySelectorAll("nav [aria-current]")].filter((a) => {
				const place = a.getBoundingClientRect();
				return a.ariaCurrent === "location" && place.top >= 0 && place.bottom <= innerHeight;
			}).map((a) => a.hash).join(" ")`) == "#"+id
		})
	}
	b.wantNoComplaints()
}

func TestReference_SamplesInOtherLanguages(t *testing.T) {
	t.Parallel()
	// The samples are those of the shell. In a script, one choice changes all samples to another language, and shows how its client is
	// made; it is remembered, and a request that is refused keeps its sample of the shell.
	b := startService(t).openReference(view{width: 360, height: 740, script: true})
	sample := func(id string, index int) string {
		return b.evaluate(fmt.Sprintf(`((f) => f.querySelector("select").value + " " + f.querySelector("pre").textContent)(
			document.querySelectorAll("#%s figure.request")[%d])`, id, index))
	}
	if got := sample("createQuote", 0); !strings.HasPrefix(got, "curl curl -X POST") {
		t.Errorf("at first, the sample is %s", got)
	}
	refused := sample("createCustomer", 2)
	b.evaluate("var place; \"\"")
	for language, call := range map[string]string{"typescript": `causeway.post("/quotes"`, "python": "causeway.create_quote(",
		"go": "client.CreateQuoteWithBodyWithResponse("} {
		b.evaluate(fmt.Sprintf(`(() => {
			const choice = document.querySelector("#createQuote select");
			choice.scrollIntoView({block: "center"});
			choice.value = %q;
			place = choice.getBoundingClientRect().top;
			choice.dispatchEvent(new Event("change"));
			return "";
		})()`, language))
		eventually(t, "the samples in "+language, func() bool { return strings.Contains(sample("createQuote", 0), call) })
		if got := sample("createQuote", 0); !strings.HasPrefix(got, language+" ") || !strings.Contains(got, "lockedCurrencySide") {
			t.Errorf("the sample is %s", got)
		}
		if got := b.evaluate(`(Math.abs(document.querySelector("#createQuote select").getBoundingClientRect().top - place) < 2) + ""`); got != "true" {
			t.Error("the choice moved away")
		}
		if got := sample("createCustomer", 2); got != refused || !strings.HasPrefix(got, "curl") {
			t.Errorf("the sample of a refused request is %s", got)
		}
		if got := b.evaluate(`document.querySelector("#client").innerText`); !strings.Contains(got, "/2025-10-13") {
			t.Errorf("the client is made by %s", got)
		}
	}
	again := b.newTab()
	again.open(b.evaluate("location.href"))
	again.want("The client of the samples")
	if wide := again.evaluate(`String(document.documentElement.scrollWidth)`); wide != "360" {
		t.Errorf("the page is %s pixels wide", wide)
	}
	b.wantNoComplaints()
	again.wantNoComplaints()
}
