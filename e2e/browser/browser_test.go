package browser

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tab is a page in a browser without a network beyond this computer.
type tab struct {
	t   *testing.T
	ctx context.Context
	mu  sync.Mutex
	// errors are what the browser complained about: scripts, the content policy, missing files.
	errors []string
	view
}

// view is how a person uses a page.
type view struct {
	width, height int64
	dark          bool
	// script: the pages run their script.
	script bool
	// keyboard: there is no mouse.
	keyboard bool
	// language is that of the texts; empty is English.
	language string
}

var (
	phone       = view{width: 390, height: 844, script: true}
	darkPhone   = view{width: 390, height: 844, dark: true, script: true}
	desktop     = view{width: 1100, height: 900}
	keyboard    = view{width: 1100, height: 900, script: true, keyboard: true}
	spanishDark = view{width: 390, height: 844, dark: true, script: true, language: "es"}
)

// browser is the process of the browser, which all tests share. closeBrowser ends it.
var (
	browser      = sync.OnceValues(startBrowser)
	closeBrowser = func() {}
)

func startBrowser() (context.Context, error) {
	program, err := browserProgram()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "causeway-browser-")
	if err != nil {
		return nil, err
	}
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(program), chromedp.UserDataDir(folder), chromedp.WSURLReadTimeout(waitTimeout)}
	for _, flag := range []string{"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
		"disable-component-update", "disable-sync", "hide-scrollbars"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	options = append(options, chromedp.Flag("host-resolver-rules", "MAP *."+walletDomain+" 127.0.0.1"))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeContext := chromedp.NewContext(allocator)
	closeBrowser = func() {
		closeContext()
		stop()
		_ = os.RemoveAll(folder)
	}
	return ctx, chromedp.Do(ctx)
}

// newTab opens a tab with cookies of its own.
func newTab(t *testing.T, v view) *tab {
	t.Helper()
	shared, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	ctx, closeTab := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	b := &tab{t: t, ctx: ctx, view: v}
	b.prepare()
	return b
}

// newTab opens another tab with the same cookies.
func (b *tab) newTab() *tab {
	b.t.Helper()
	ctx, closeTab := chromedp.NewContext(b.ctx)
	b.t.Cleanup(closeTab)
	other := &tab{t: b.t, ctx: ctx, view: b.view}
	other.prepare()
	return other
}

// prepare shows pages as the view says, and collects what the browser complains about.
func (b *tab) prepare() {
	b.t.Helper()
	if err := chromedp.Listen(b.ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.errors = append(b.errors, e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.EntryLevelError {
				b.errors = append(b.errors, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	}); err != nil {
		b.t.Fatal(err)
	}
	var stop context.CancelFunc
	b.ctx, stop = context.WithTimeout(b.ctx, waitTimeout)
	b.t.Cleanup(stop)
	b.show()
	b.setScript(b.script)
}

// show shows pages in the size and the colours of the view.
func (b *tab) show() {
	b.t.Helper()
	scheme := "light"
	if b.dark {
		scheme = "dark"
	}
	b.run(chromedp.EmulateViewport(b.width, b.height))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// showAs shows the page in the size and the colours of another view while fn runs.
func (b *tab) showAs(v view, fn func()) {
	b.t.Helper()
	own := b.view
	b.width, b.height, b.dark = v.width, v.height, v.dark
	b.show()
	fn()
	b.width, b.height, b.dark = own.width, own.height, own.dark
	b.show()
}

// checkEverywhere is check in light and dark, and on the smallest phone.
func (b *tab) checkEverywhere(name string) {
	b.t.Helper()
	for _, v := range []view{{width: 1100, height: 900}, {width: 1100, height: 900, dark: true}, {width: 360, height: 740}} {
		b.showAs(v, func() { b.check(fmt.Sprintf("%s at %d pixels, dark %v", name, v.width, v.dark)) })
	}
}

// setScript says whether pages may run scripts.
func (b *tab) setScript(enabled bool) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: !enabled}); err != nil {
		b.t.Fatal(err)
	}
}

// browserProgram returns the browser, which make needs-browser installs.
func browserProgram() (string, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no browser; run make needs-browser")
}

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatalf("%v; the browser said %q", err, b.complaints())
	}
}

func (b *tab) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.errors)
}

// wantNoComplaints checks that the browser complained about nothing but responses with some statuses.
func (b *tab) wantNoComplaints(statuses ...int) {
	b.t.Helper()
	for _, complaint := range b.complaints() {
		if !slices.ContainsFunc(statuses, func(status int) bool { return strings.Contains(complaint, fmt.Sprintf("a status of %d ", status)) }) {
			b.t.Errorf("the browser said: %s", complaint)
		}
	}
}

// texts has the texts of the pages, by language and key.
var texts = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, language := range []string{"en", "es"} {
		body, err := os.ReadFile("../../adapters/pages/texts/" + language + ".json")
		if err == nil {
			var keys map[string]string
			err = json.Unmarshal(body, &keys)
			all[language] = keys
		}
		if err != nil {
			panic(err)
		}
	}
	return all
})

// say returns the text of a key in the language of the view.
func (b *tab) say(key string) string {
	b.t.Helper()
	text, ok := texts()[cmp.Or(b.language, "en")][key]
	if !ok {
		b.t.Fatalf("there is no text %s", key)
	}
	return text
}

// open goes to an address.
func (b *tab) open(url string) {
	b.t.Helper()
	b.run(chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS("main h1")))
}

// press presses a link or button, and waits for the next page.
func (b *tab) press(selector string) {
	b.t.Helper()
	b.pressTo(selector, http.StatusOK)
}

// pressTo is press for a page with a status.
func (b *tab) pressTo(selector string, status int64) {
	b.t.Helper()
	response, err := chromedp.RunResponse(b.ctx, b.activate(selector))
	for range 10 {
		if err == nil || !strings.Contains(err.Error(), "Could not find node with given id") {
			break
		}
		// The page was replaced after the element was found, so nothing was pressed.
		response, err = chromedp.RunResponse(b.ctx, b.activate(selector))
	}
	if err != nil {
		b.t.Fatalf("press %s: %v; the page is\n%s", selector, err, b.text())
	}
	if response != nil && response.Status != status {
		b.t.Fatalf("press %s: status %d, want %d\n%s", selector, response.Status, status, b.text())
	}
	b.run(chromedp.WaitReady(chromedp.CSS("main h1")))
}

// back goes to the page before. One that the browser has kept is shown without being loaded.
func (b *tab) back() {
	b.t.Helper()
	b.evaluate(`window.leaving = "yes"`)
	b.evaluate(`history.back(); ""`)
	eventually(b.t, "the page before", func() bool {
		shown, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`String(!window.leaving && document.readyState === "complete")`))
		return err == nil && shown == "true"
	})
}

// activate returns what a person does with a link or button.
func (b *tab) activate(selector string) chromedp.Action[chromedp.Void] {
	b.t.Helper()
	if !b.keyboard {
		return chromedp.Click(chromedp.CSS(selector))
	}
	b.focus(selector)
	return chromedp.KeyEvent(kb.Enter)
}

// focus goes to an element with the key Tab.
func (b *tab) focus(selector string) {
	b.t.Helper()
	for range 100 {
		if b.evaluate(fmt.Sprintf("String(document.activeElement.matches(%q))", selector)) == "true" {
			return
		}
		b.run(chromedp.KeyEvent(kb.Tab))
	}
	b.t.Fatalf("the keyboard does not reach %s:\n%s", selector, b.text())
}

// evaluate returns the value of an expression.
func (b *tab) evaluate(expression string) string {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func (b *tab) text() string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		return err.Error() // between two pages
	}
	return text
}

// want waits until the page has a text.
func (b *tab) want(text string) {
	b.t.Helper()
	shown, ok := "", false
	defer func() {
		if !ok {
			b.t.Logf("the page is:\n%s", shown)
		}
	}()
	eventually(b.t, fmt.Sprintf("a page with %q", text), func() bool {
		shown = b.text()
		ok = strings.Contains(shown, text)
		return ok
	})
}

// wantField checks the value of a field.
func (b *tab) wantField(name, want string) {
	b.t.Helper()
	if got := b.evaluate(fmt.Sprintf(`document.querySelector('[name="%s"]').value`, name)); got != want {
		b.t.Errorf("%s is %q; want %q", name, got, want)
	}
}

// fill sets fields of the form by their names. Without a mouse they are typed, in the order of the form;
// of a date all eight digits are, in the order of this browser: month, day, year.
func (b *tab) fill(fields map[string]string) {
	b.t.Helper()
	if !b.keyboard {
		for name, value := range fields {
			b.run(chromedp.SetValue(chromedp.CSS(fmt.Sprintf("[name=%q]", name)), value))
		}
		return
	}
	for name := range strings.FieldsSeq(b.evaluate("[...document.querySelectorAll('form [name]')].map(e => e.name).join(' ')")) {
		value, ok := fields[name]
		if !ok {
			continue
		}
		b.focus(fmt.Sprintf("[name=%q]", name))
		switch kind := b.evaluate("document.activeElement.type"); kind {
		case "date":
			date, err := time.Parse(time.DateOnly, value)
			if err != nil {
				b.t.Fatal(err)
			}
			b.run(chromedp.KeyEvent(date.Format("01022006")))
		case "select-one":
			at, err := strconv.Atoi(b.evaluate(fmt.Sprintf("String([...document.activeElement.options].findIndex(o => o.value === %q) - "+
				"document.activeElement.selectedIndex)", value)))
			if err != nil {
				b.t.Fatal(err)
			}
			key := kb.ArrowDown
			if at < 0 {
				key, at = kb.ArrowUp, -at
			}
			b.run(chromedp.KeyEvent(strings.Repeat(key, at)))
		default:
			b.run(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(value))
		}
		b.wantField(name, value)
	}
}

// choose chooses the file of a form.
func (b *tab) choose(path string) {
	b.t.Helper()
	if b.keyboard {
		b.focus("[type=file]")
	}
	b.run(chromedp.SetUploadFiles(chromedp.CSS("[type=file]"), []string{path}))
}

// upload uploads a file as a document, which is accepted.
func (b *tab) upload(path string, fields map[string]string) {
	b.t.Helper()
	b.fill(fields)
	b.choose(path)
	b.press("form button.primary")
}

// uploadRefused uploads a file that is refused with a status, and waits for the text that says why.
// With script the page stays.
func (b *tab) uploadRefused(path string, fields map[string]string, status int64, text string) {
	b.t.Helper()
	b.fill(fields)
	b.choose(path)
	if b.script {
		b.run(b.activate("form button.primary"))
	} else {
		b.pressTo("form button.primary", status)
	}
	b.want(text)
}

// tick checks a box.
func (b *tab) tick(value string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](fmt.Sprintf("document.querySelector('[type=checkbox][value=%s]').checked = true",
		value))); err != nil {
		b.t.Fatal(err)
	}
}

// check checks the accessibility of the page with the rules of WCAG 2.2 AA, and that nothing is
// wider than the screen.
func (b *tab) check(name string) {
	b.t.Helper()
	source, err := os.ReadFile("../node/node_modules/axe-core/axe.min.js")
	if err != nil {
		b.t.Fatalf("%v; run make needs-node", err)
	}
	b.setScript(true)
	found := ""
	eventually(b.t, "a page that stays until it is checked", func() bool { // some load themselves again
		found, err = chromedp.Run(b.ctx, chromedp.Evaluate[string](string(source)+
			`; axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => r.passes.length < 5 ? "no rules were checked" : JSON.stringify(
		r.violations.map(v => v.id + ": " + v.help + " " + v.nodes.map(n => n.html + " " + n.failureSummary).join(" | "))))`,
			chromedp.EvalAwaitPromise))
		return err == nil
	})
	sizes, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]int]("[document.documentElement.scrollWidth, innerWidth]"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.setScript(b.script)
	if found != "[]" {
		b.t.Errorf("%s: %s", name, found)
	}
	if sizes[0] > sizes[1] {
		b.t.Errorf("%s is %d pixels wide on a screen of %d", name, sizes[0], sizes[1])
	}
}

// screenshot writes a picture of the page to the folder CAUSEWAY_SCREENSHOTS, if it is set.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	b.capture(name, chromedp.FullScreenshot(100))
}

// screenshotAs is screenshot for what another view shows at once, from an element on.
func (b *tab) screenshotAs(name, from string, v view) {
	b.t.Helper()
	b.showAs(v, func() {
		b.evaluate(fmt.Sprintf(`document.querySelector(%q).scrollIntoView(); ""`, from))
		b.capture(name, chromedp.CaptureScreenshot())
	})
}

func (b *tab) capture(name string, take chromedp.Action[[]byte]) {
	b.t.Helper()
	folder := os.Getenv("CAUSEWAY_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, take)
	if err != nil {
		b.t.Fatal(err)
	}
	if len(picture) > 100_000 {
		b.t.Errorf("the picture %s has %d bytes", name, len(picture))
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// scan writes a picture of a document to a file.
func scan(t *testing.T) string {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 600, 400))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "scan.png")
	if err := os.WriteFile(path, picture.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
