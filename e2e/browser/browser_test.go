package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"causeway/adapters/pgembed/pgtest"
	"causeway/e2e/kit"
)

const masterKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// waitTimeout is the limit for everything in a tab, and for what a test waits for. It only ends a test
// that would never end.
const waitTimeout = 5 * time.Minute

// service is the built program with a sandbox platform, whose businesses must be verified.
type service struct {
	t *testing.T
	kit.Credentials
	base string
}

func startService(t *testing.T) *service {
	t.Helper()
	ctx := t.Context()
	binary, remove, err := kit.Build()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	database := pgtest.New(t)
	login, err := kit.CreateServiceLogin(ctx, database)
	if err != nil {
		t.Fatal(err)
	}
	p, err := kit.Start(kit.Command{Program: binary, Env: []string{"DATABASE_URL=" + login, "CAUSEWAY_MASTER_KEY=" + masterKey},
		Args: []string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "json", "--blobs", "folder:" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(waitTimeout); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(p.Tail())
		}
	})
	line, err := p.AwaitLogField(ctx, "address")
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, base: line["address"].(string)}
	if err := p.AwaitReady(ctx, s.base[:strings.LastIndex(s.base, "/")]); err != nil {
		t.Fatal(err)
	}
	if s.Credentials, err = kit.CreatePlatform(ctx, binary, database, "Acme Pay", "SANDBOX"); err != nil {
		t.Fatal(err)
	}
	return s
}

// call sends a request to the API and returns a text of the response.
func (s *service) call(method, path, body, field string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth(s.ClientID, s.ClientSecret)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	var fields map[string]any
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil || response.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %d %s %v", method, path, response.StatusCode, text, err)
	}
	value, _ := fields[field].(string)
	return value
}

// newLink creates a business and returns its id and a link.
func (s *service) newLink() (business, link string) {
	s.t.Helper()
	business = s.call("POST", "/customers", `{"customerType": "BUSINESS", "region": "US", "businessInfo": {"legalName": "Nordlicht Inc"}}`, "id")
	return business, s.call("POST", "/customers/"+business+"/kyc-link", `{}`, "kycUrl")
}

// tab is a page in a browser without a network beyond this computer.
type tab struct {
	t   *testing.T
	ctx context.Context
	mu  sync.Mutex
	// errors are what the browser complained about: scripts, the content policy, missing files.
	errors []string
	// script: the pages run their script.
	script bool
}

// view is how a page is shown.
type view struct {
	width, height int64
	dark, script  bool
}

var (
	phone     = view{width: 390, height: 844, script: true}
	darkPhone = view{width: 390, height: 844, dark: true, script: true}
	desktop   = view{width: 1100, height: 900}
)

func newTab(t *testing.T, v view) *tab {
	t.Helper()
	program := browserProgram(t)
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(waitTimeout)}
	for _, flag := range []string{"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync", "hide-scrollbars"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocator, stopBrowser := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stopBrowser)
	ctx, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(closeTab)
	b := &tab{t: t, ctx: ctx, script: v.script}
	// The first call starts the browser, which ends with its context.
	if err := chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.errors = append(b.errors, e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.EntryLevelError && !strings.Contains(e.Entry.Text, "422") {
				b.errors = append(b.errors, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	var stop context.CancelFunc
	b.ctx, stop = context.WithTimeout(ctx, waitTimeout)
	t.Cleanup(stop)
	scheme := "light"
	if v.dark {
		scheme = "dark"
	}
	b.run(chromedp.EmulateViewport(v.width, v.height))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		t.Fatal(err)
	}
	b.setScript(v.script)
	return b
}

// setScript says whether pages may run scripts.
func (b *tab) setScript(enabled bool) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !enabled}); err != nil {
		b.t.Fatal(err)
	}
}

// browserProgram returns the browser, which make needs-browser installs.
func browserProgram(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("there is no browser; run make needs-browser")
	return ""
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
	return b.errors
}

// open goes to an address.
func (b *tab) open(url string) {
	b.t.Helper()
	b.run(chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS("main h1")))
}

// press presses a link or button, and waits for the next page.
func (b *tab) press(selector string) {
	b.t.Helper()
	response, err := chromedp.RunResponse(b.ctx, chromedp.Click(chromedp.CSS(selector)))
	if err != nil {
		b.t.Fatalf("press %s: %v; the page is\n%s", selector, err, b.text())
	}
	if response != nil && response.Status >= 400 && response.Status != http.StatusUnprocessableEntity {
		b.t.Fatalf("press %s: status %d\n%s", selector, response.Status, b.text())
	}
	b.run(chromedp.WaitReady(chromedp.CSS("main h1")))
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
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(b.text(), text) {
			return
		}
	}
	b.t.Fatalf("the page has no %q:\n%s", text, b.text())
}

// fill sets fields of the form by their names.
func (b *tab) fill(fields map[string]string) {
	b.t.Helper()
	for name, value := range fields {
		b.run(chromedp.SetValue(chromedp.CSS(fmt.Sprintf("[name=%q]", name)), value))
	}
}

// tick checks a box.
func (b *tab) tick(value string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](fmt.Sprintf("document.querySelector('[type=checkbox][value=%s]').checked = true", value))); err != nil {
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
	_, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool](string(source)+"; true"))
	if err != nil {
		b.t.Fatal(err)
	}
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => r.passes.length < 5 ? "no rules were checked" : JSON.stringify(
		r.violations.map(v => v.id + ": " + v.help + " " + v.nodes.map(n => n.html + " " + n.failureSummary).join(" | "))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
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
	folder := os.Getenv("CAUSEWAY_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
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
