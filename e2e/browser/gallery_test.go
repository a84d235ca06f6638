package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// gallery shows each page of the console in light, in dark and on a phone. It is a folder of pictures and of a document that has them.
type gallery struct {
	folder string
	lines  []string
}

// named are the parts of a path that name one thing of many.
var named = regexp.MustCompile(`^([0-9a-f-]{36}|\d{4}(-\d{2}){0,2}|\d+|[A-Z]\S*|demo\S*)$`)

// kindOf returns the page of a path, whatever it shows, such as platform/payments/one; empty for what is no page.
func kindOf(path string) string {
	if path, _, _ = strings.Cut(path, "?"); strings.Contains(filepath.Base(path), ".") || strings.Contains(path, "sign-") ||
		strings.HasSuffix(path, "/stream") || strings.HasSuffix(path, "/file") {
		return ""
	}
	parts := strings.Split(strings.Trim(strings.TrimPrefix(path, "/console"), "/"), "/")
	for i, part := range parts {
		if named.MatchString(part) {
			parts[i] = "one"
		}
	}
	return strings.TrimSuffix(strings.Replace(strings.Join(parts, "/"), "platforms/one", "platform", 1), "/")
}

var galleryViews = []struct {
	name string
	view
	shown int // the width in the document
}{{"light", view{width: 1000, height: 700}, 380}, {"dark", view{width: 1000, height: 700, dark: true}, 380},
	{"phone", view{width: 390, height: 700}, 150}}

// add shows a page of the console.
func (g *gallery) add(b *tab, kind string) {
	b.t.Helper()
	title := b.evaluate(`document.querySelector("h1").textContent.trim()`)
	row := fmt.Sprintf("## %s\n\n`%s`\n\n", title, kind)
	for _, v := range galleryViews {
		file := strings.ReplaceAll(kind, "/", "-") + "-" + v.name + ".webp"
		b.showAs(v.view, func() {
			picture, err := chromedp.Run(b.ctx, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
				result, err := cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{
					Format: page.CaptureScreenshotFormatWebp, Quality: new(int64(35))})
				return result.Data, err
			})
			if err == nil {
				err = os.WriteFile(filepath.Join(g.folder, file), picture, 0o644)
			}
			if err != nil {
				b.t.Fatal(err)
			}
		})
		row += fmt.Sprintf("<img src=%q width=\"%d\" alt=\"%s, %s\"> ", file, v.shown, title, v.name)
	}
	g.lines = append(g.lines, strings.TrimSpace(row)+"\n")
}

func TestGallery_EachPageOfTheConsole(t *testing.T) {
	t.Parallel()
	pictures := os.Getenv("CAUSEWAY_SCREENSHOTS")
	if pictures == "" {
		t.Skip("make screenshots takes the pictures")
	}
	// The pages are those that links lead to, from the overview on, each kind once, with the payments of a platform in them.
	g := gallery{folder: filepath.Join(pictures, "console")}
	if err := os.RemoveAll(g.folder); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(g.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, _, _ := s.newWorkload()
	s.newPlatform("Empty Bank", "PRODUCTION")
	c := s.newColleague("root@acme.example", "Root Admin", "ADMINISTRATOR", view{width: 1000, height: 700, script: true})
	seen := map[string]bool{"": true}
	for next := []string{p.consolePath(), "/console"}; len(next) > 0; next = next[1:] {
		kind := kindOf(next[0])
		if seen[kind] {
			continue
		}
		seen[kind] = true
		c.visit(next[0])
		if c.evaluate(`document.querySelector("h1") ? "page" : ""`) == "" {
			continue // a file
		}
		g.add(c.tab, kind)
		links := c.evaluate(`[...document.querySelectorAll("nav a[href], main a[href]")].map(a => a.getAttribute("href")).join("\n")`)
		for link := range strings.Lines(links) {
			if link = strings.TrimSpace(link); strings.HasPrefix(link, "/console") && !seen[kindOf(link)] {
				next = append(next, link)
			}
		}
	}
	if len(g.lines) < 40 {
		t.Errorf("only %d pages were found", len(g.lines))
	}
	document := "# Pages of the console\n\nEach page in light, in dark and on a phone, as an administrator sees it. Written by `make screenshots`; do not " +
		"edit. [Console](../../console.md) says what they are for.\n\n" + strings.Join(g.lines, "\n")
	if err := os.WriteFile(filepath.Join(g.folder, "README.md"), []byte(document), 0o644); err != nil {
		t.Fatal(err)
	}
}
