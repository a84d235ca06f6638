package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

var (
	linkPattern       = regexp.MustCompile(`/console/link/[\w-]+`)
	secretPattern     = regexp.MustCompile(`name="secret" value="([A-Z2-7]+)"`)
	recoveryPattern   = regexp.MustCompile(`<li>([A-Z2-9]{4}(?:-[A-Z2-9]{4}){3})</li>`)
	signInCodePattern = regexp.MustCompile(`the code ([B-Z]{4}-[B-Z]{4})`)
	tokenPattern      = regexp.MustCompile(`name="csrf" value="([\w-]+)"`)
)

// person is somebody who works with the service.
type person struct {
	t     testing.TB
	root  string // of the pages
	email string
	http  *http.Client
	totp  string
	// used is the code with which the second factor was chosen, and recovery are codes that were not used yet.
	used     string
	recovery []string
	// env is the environment of commands after a sign-in; nil before.
	env []string
}

// invite invites a person by command, who opens the link and chooses its password and second factor.
func (h *testEnv) invite(name, roles string) *person {
	h.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	p := &person{t: h.t, root: strings.TrimSuffix(h.server.baseURL, "/2025-10-13"), email: strings.ToLower(name) + "@people.test",
		http: &http.Client{Jar: jar, Timeout: waitTimeout}}
	out := mustRunCommand(h.t, []string{"DATABASE_URL=" + h.databaseURL}, "people", "invite", p.email, "--name", name, "--roles", roles)
	link := linkPattern.FindString(out)
	p.page(http.MethodPost, link, nil)
	setup := p.page(http.MethodGet, "/console/setup", nil)
	p.totp = p.find(secretPattern, setup)
	p.used = p.code(0)
	shown := p.page(http.MethodPost, "/console/setup", url.Values{"csrf": {p.find(tokenPattern, setup)}, "secret": {p.totp},
		"password": {"correct horse battery staple"}, "code": {p.used}})
	for _, found := range recoveryPattern.FindAllStringSubmatch(shown, -1) {
		p.recovery = append(p.recovery, found[1])
	}
	return p
}

// commandLine returns the environment of the commands of a person, who signs in first: the command prints a code, which the person
// approves in the console.
func (h *testEnv) commandLine(p *person) []string {
	h.t.Helper()
	if p.env != nil {
		return p.env
	}
	p.env = []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey, "XDG_CONFIG_HOME=" + h.t.TempDir()}
	login := startProcessNoCleanup(h.t, p.env, "login", "--public-url", p.root)
	code := signInCodePattern.FindStringSubmatch(login.awaitLine(p.root + "/console/command-line"))
	if code == nil || len(p.recovery) == 0 {
		h.t.Fatal("no code")
	}
	form := url.Values{"csrf": {p.find(tokenPattern, p.page(http.MethodGet, "/console/command-line", nil))}, "code": {code[1]}}
	if page := p.page(http.MethodPost, "/console/command-line", form); !strings.Contains(page, "asks to act as you, "+p.email) {
		h.t.Fatalf("the console shows\n%s", page)
	}
	form.Set("decision", "approve")
	form.Set("confirmation", p.recovery[0])
	p.recovery = p.recovery[1:]
	if page := p.page(http.MethodPost, "/console/command-line", form); !strings.Contains(page, "You are signed in on the command line") {
		h.t.Fatalf("the console shows\n%s", page)
	}
	login.awaitLine("You are signed in as " + p.email)
	<-login.Exited
	return p.env
}

// code returns the code of the second factor, some steps of time from now.
func (p *person) code(steps time.Duration) string {
	p.t.Helper()
	code, err := totp.GenerateCode(p.totp, time.Now().Add(steps*30*time.Second))
	if err != nil {
		p.t.Fatal(err)
	}
	return code
}

// page returns a page, or what follows a form.
func (p *person) page(method, path string, form url.Values) string {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.root+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := p.http.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusNotFound {
		p.t.Fatalf("%s %s: %d, %v\n%s", method, path, response.StatusCode, err, body)
	}
	return string(body)
}

func (p *person) find(pattern *regexp.Regexp, page string) string {
	p.t.Helper()
	found := pattern.FindAllStringSubmatch(page, -1)
	if len(found) == 0 {
		p.t.Fatalf("no %s in\n%s", pattern, page)
	}
	return found[len(found)-1][1]
}

// tokenOf returns a client with a token of the platform that belongs to the person, which an administrator makes.
func (h *testEnv) tokenOf(p *person, on *tenant) *client {
	h.t.Helper()
	var created struct{ ClientID, ClientSecret string }
	if h.administrator == nil {
		h.administrator = h.invite("Ada", "ADMINISTRATOR")
	}
	out := mustRunCommand(h.t, h.commandLine(h.administrator), "token", "create", "--platform", on.platformID, "--name", p.email,
		"--permissions", "VIEW,MANAGE", "--person", p.email)
	if err := json.Unmarshal([]byte(out), &created); err != nil {
		h.t.Fatal(err)
	}
	return newClient(h.t, h.server.baseURL, created.ClientID, created.ClientSecret)
}
