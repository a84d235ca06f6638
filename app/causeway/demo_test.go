package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"causeway/adapters/cli"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func TestDemo_ShowsPayment(t *testing.T) {
	t.Parallel()
	// The demo shows every request, response, webhook, entry and balance, in lines that fit,
	// and restores the platform's webhook endpoint.
	service := newFakeService(t)
	var out strings.Builder
	p := newPaymentDemo(service.credentials(), &out)
	p.ledger, p.program = newRampLedger(t), "bin/causeway"

	if err := p.run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}

	service.deliveries.Wait()
	checkGolden(t, "demo.txt", normalizeOutput(out.String(), service))
	for line := range strings.SplitSeq(out.String(), "\n") {
		if utf8.RuneCountInString(line) > screenWidth {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	service.mu.Lock()
	defer service.mu.Unlock()
	if last := service.endpoints[len(service.endpoints)-1]; last != "https://platform.example/webhooks" {
		t.Errorf("webhooks go to %q now", last)
	}
	// TEST, PENDING, PROCESSING, another customer's, the same again, COMPLETED.
	if want := []int{200, 200, 200, 503, 409, 200}; !slices.Equal(service.responseStatuses, want) {
		t.Errorf("webhooks were responded to with %v, want %v", service.responseStatuses, want)
	}
}

func TestDemo_RestoresEndpointOnFailure(t *testing.T) {
	t.Parallel()
	// When something fails, the demo returns what, and restores the webhook endpoint.
	for name, c := range map[string]struct {
		spoil func(*fakeService, *paymentDemo)
		want  string
	}{
		"a request is refused": {func(f *fakeService, _ *paymentDemo) { f.refusePath = "/quotes" },
			"POST /quotes was refused: 403 FORBIDDEN: This token may not do that."},
		"the payment fails": {func(f *fakeService, _ *paymentDemo) { f.failPayment = true }, "ended as OUTGOING_PAYMENT.FAILED"},
		"a webhook is forged": {func(f *fakeService, _ *paymentDemo) { f.forgeEvent = "OUTGOING_PAYMENT.PENDING" },
			"none of the published keys"},
		"no webhook is sent": {func(f *fakeService, p *paymentDemo) {
			f.noWebhooks, p.webhookTimeout, p.testEventTimeout = true, time.Millisecond, time.Millisecond
		}, "no webhook OUTGOING_PAYMENT.PENDING within"},
		"another database": {func(_ *fakeService, p *paymentDemo) { p.ledger = fakeLedgerReader{} }, "has no entries of " + fakeTransaction},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newFakeService(t)
			p := newPaymentDemo(service.credentials(), new(strings.Builder))
			p.ledger = newRampLedger(t)
			c.spoil(service, p)

			err := p.run(t.Context())

			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			service.mu.Lock()
			defer service.mu.Unlock()
			if len(service.endpoints) != 2 || service.endpoints[1] != "https://platform.example/webhooks" {
				t.Errorf("webhooks went to %q", service.endpoints)
			}
		})
	}
}

func TestDemo_ContinuesWithoutTestEvent(t *testing.T) {
	t.Parallel()
	// A TEST event is sent only once: if it is lost, the demo says so and continues.
	service := newFakeService(t)
	service.lostEvent = "TEST"
	var out strings.Builder
	p := newPaymentDemo(service.credentials(), &out)
	p.testEventTimeout = time.Millisecond

	if err := p.run(t.Context()); err != nil || !strings.Contains(out.String(), "No TEST event was received") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestDemo_CancelRestoresEndpoint(t *testing.T) {
	t.Parallel()
	// Ctrl-C ends the demo at once, and the endpoint is restored nevertheless.
	service := newFakeService(t)
	service.noWebhooks = true
	ctx, cancel := context.WithCancel(t.Context())
	out := &triggerWriter{match: "webhookEndpoint  http://127.0.0.1", onMatch: cancel}

	err := newPaymentDemo(service.credentials(), out).run(ctx)

	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	service.mu.Lock()
	defer service.mu.Unlock()
	if len(service.endpoints) != 2 || service.endpoints[1] != "https://platform.example/webhooks" {
		t.Errorf("webhooks went to %q", service.endpoints)
	}
}

// triggerWriter calls a function when a text is written.
type triggerWriter struct {
	strings.Builder
	match   string
	onMatch func()
}

func (w *triggerWriter) Write(text []byte) (int, error) {
	if strings.Contains(string(text), w.match) {
		w.onMatch()
	}
	return w.Builder.Write(text)
}

func TestDemo_StaleDemoEndpointIsCleared(t *testing.T) {
	t.Parallel()
	// An endpoint that a killed demo left is not restored, because nothing listens there.
	service := newFakeService(t)
	service.endpoint = "http://127.0.0.1:4711" + demoPathPrefix + "0199f0a2"

	if err := newPaymentDemo(service.credentials(), new(strings.Builder)).run(t.Context()); err != nil {
		t.Fatal(err)
	}

	service.mu.Lock()
	defer service.mu.Unlock()
	if len(service.endpoints) != 2 || service.endpoints[1] != "" {
		t.Errorf("webhooks went to %q", service.endpoints)
	}
}

func TestDemo_WithoutDatabase(t *testing.T) {
	t.Parallel()
	// Without a database the demo says so instead of showing entries.
	service := newFakeService(t)
	var out strings.Builder

	if err := newPaymentDemo(service.credentials(), &out).run(t.Context()); err != nil {
		t.Fatal(err)
	}

	if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, ledgerUnavailable) ||
		strings.Contains(text, "rails/RTP") {
		t.Error(out.String())
	}
}

func TestDemo_Credentials(t *testing.T) {
	t.Parallel()
	// Flags are set together; without them the file in the data folder is read. An error
	// says what to do.
	dir := t.TempDir()
	write := func(name, text string) string {
		sub := filepath.Join(dir, name)
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, "credentials.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return sub
	}
	good := write("good", `{"platformId":"p","clientId":"c","clientSecret":"s","baseUrl":"http://localhost:8080/2025-10-13"}`)
	bad := write("bad", `{"platformId"`)
	for name, c := range map[string]struct {
		command demoCommand
		want    cli.Credentials
		wrong   string
	}{
		"flags": {demoCommand{serviceFlags: serviceFlags{BaseURL: "http://h/v", ClientID: "a", ClientSecret: "b"},
			DatabaseFlags: cli.DatabaseFlags{DataFlag: cli.DataFlag{Data: good}}}, cli.Credentials{BaseURL: "http://h/v", ClientID: "a",
			ClientSecret: "b"}, ""},
		"half a set": {demoCommand{serviceFlags: serviceFlags{ClientID: "a"},
			DatabaseFlags: cli.DatabaseFlags{DataFlag: cli.DataFlag{Data: good}}}, cli.Credentials{},
			"together, or none"},
		"a folder": {demoCommand{DatabaseFlags: cli.DatabaseFlags{DataFlag: cli.DataFlag{Data: good}}},
			cli.Credentials{PlatformID: "p", ClientID: "c", ClientSecret: "s", BaseURL: "http://localhost:8080/2025-10-13"}, ""},
		"no folder": {demoCommand{DatabaseFlags: cli.DatabaseFlags{DataFlag: cli.DataFlag{Data: filepath.Join(dir, "none")}}},
			cli.Credentials{}, "start causeway dev"},
		"broken file": {demoCommand{DatabaseFlags: cli.DatabaseFlags{DataFlag: cli.DataFlag{Data: bad}}}, cli.Credentials{}, "is not valid JSON"},
	} {
		got, err := c.command.credentials(c.command.Data)
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) || c.wrong == "" && (err != nil || got != c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestScreen_ColourOnlyOnTerminal(t *testing.T) {
	// Output to a pipe or a file has no control characters.
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if supportsColour(file) || supportsColour(new(strings.Builder)) {
		t.Error("a file gets colour")
	}

	// A character device is a terminal, unless NO_COLOR or TERM=dumb is set.
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	if !supportsColour(device) {
		t.Error("a terminal gets none")
	}
	t.Setenv("TERM", "dumb")
	if supportsColour(device) {
		t.Error("a dumb terminal gets colour")
	}
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	if supportsColour(device) {
		t.Error("NO_COLOR is not respected")
	}
}

func TestFormatJSON(t *testing.T) {
	t.Parallel()
	// JSON that fits is on one line; any other has a line for each member.
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{`{"a":1,"b":"x:y,z"}`, 40, `{"a": 1, "b": "x:y,z"}`},
		{`{"a":"q\"\\","b":1}`, 40, `{"a": "q\"\\", "b": 1}`},
		{`{"a":1,"b":{"c":2,"d":3}}`, 20, "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2,\n    \"d\": 3\n  }\n}"},
		{`{"a":1,"b":{"c":2,"d":3}}`, 24, "{\n  \"a\": 1,\n  \"b\": {\"c\": 2, \"d\": 3}\n}"},
		{`"a text too long"`, 8, `"a text…`},
	} {
		if got := strings.Join(formatJSON([]byte(c.text), c.width), "\n"); got != c.want {
			t.Errorf("%s in %d columns:\n%s\nwant:\n%s", c.text, c.width, got, c.want)
		}
	}
}

// normalizeOutput removes what differs from run to run.
func normalizeOutput(text string, service *fakeService) string {
	text = strings.ReplaceAll(text, service.URL, "http://service")
	for pattern, word := range map[string]string{
		`Idempotency-Key: [0-9a-f-]{36}`:                           "Idempotency-Key: <new>",
		`http://127\.0\.0\.1:\d+` + demoPathPrefix + `[0-9a-f]{8}`: "http://receiver" + demoPathPrefix + "<new>",
		`demo-[0-9a-f]{8}`:                                         "demo-<new>",
		`spark1[0-9a-f]{32}w`:                                      "spark1<new>",
		`after \S+`:                                                "after <time>",
		`Done in \S+\.`:                                            "Done in <time>.",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, word)
	}
	return text
}
