package browser

import (
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"causeway/adapters/pgembed/pgtest"
	"causeway/e2e/kit"
)

const masterKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// program is the program under test, built once for all tests.
var program string

// maxTests is how many tests run at once. They rarely wait, unlike others: more would make each of them slower.
const maxTests = 4

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	flag.Parse()
	if parallel := flag.Lookup("test.parallel").Value; parallel.(flag.Getter).Get().(int) > maxTests {
		_ = parallel.Set(strconv.Itoa(maxTests)) // fails on no number
	}
	path, remove, err := kit.Prepare()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	defer func() { closeBrowser() }()
	program = path
	return m.Run()
}

// service is the built program with a database of its own.
type service struct {
	t *testing.T
	// base is the URL of the API, and root that of the pages.
	base, root string
	process    *kit.Process
	// database is the URL of the owner of the tables, and files the folder of uploaded files.
	database, files string
}

func startService(t *testing.T) *service {
	t.Helper()
	return startServiceAt(t, "127.0.0.1:0")
}

// startServiceAt starts the service on an address, with other options.
func startServiceAt(t *testing.T, address string, options ...string) *service {
	t.Helper()
	ctx := t.Context()
	s := &service{t: t, database: pgtest.New(t), files: t.TempDir()}
	login, err := kit.CreateServiceLogin(ctx, s.database)
	if err != nil {
		t.Fatal(err)
	}
	s.process, err = kit.Start(kit.Command{Program: program, Env: []string{"DATABASE_URL=" + login, "CAUSEWAY_MASTER_KEY=" + masterKey},
		Args: append([]string{"serve", "--listen", address, "--admin-listen", "127.0.0.1:0", "--sandbox-speed", "1000", "--log-format", "json",
			"--blobs", "folder:" + s.files}, options...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.process.Stop(waitTimeout); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(s.process.Tail())
		}
	})
	line, err := s.process.AwaitLogField(ctx, "address")
	if err != nil {
		t.Fatal(err)
	}
	s.base = line["address"].(string)
	if s.root = s.base[:strings.LastIndex(s.base, "/")]; !strings.HasSuffix(address, ":0") { // else a proxy would be there
		s.base, s.root = "http://"+address+s.base[len(s.root):], "http://"+address
	}
	if err := s.process.AwaitReady(ctx, s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// in returns the service for a part of the test.
func (s service) in(t *testing.T) *service {
	s.t = t
	return &s
}

// causeway runs a command of the operator, which has to succeed.
func (s *service) causeway(args ...string) string {
	s.t.Helper()
	result, err := kit.MustSucceed(s.t.Context(), kit.Command{Program: program, Args: args,
		Env: []string{"DATABASE_URL=" + s.database, "CAUSEWAY_MASTER_KEY=" + masterKey, "CAUSEWAY_BLOBS=folder:" + s.files}})
	if err != nil {
		s.t.Fatal(err)
	}
	return result.Output
}

// openDatabase opens the database as the owner of its tables.
func (s *service) openDatabase() *sql.DB {
	s.t.Helper()
	db, err := sql.Open("pgx", s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = db.Close() })
	return db
}

// exec changes the database.
func (s *service) exec(statement string, args ...any) {
	s.t.Helper()
	if _, err := s.openDatabase().ExecContext(s.t.Context(), statement, args...); err != nil {
		s.t.Fatal(err)
	}
}

// platform is a platform, and its client of the API.
type platform struct {
	*service
	kit.Credentials
}

func (s *service) newPlatform(name, environment string, flags ...string) *platform {
	s.t.Helper()
	created, err := kit.CreatePlatform(s.t.Context(), program, s.database, name, environment, flags...)
	if err != nil {
		s.t.Fatal(err)
	}
	return &platform{s, created}
}

// answer is a response of the API.
type answer struct {
	t      *testing.T
	call   string
	status int
	body   []byte
}

// send sends a request to the API. body is nil or becomes JSON.
func (p *platform) send(method, path string, body any) answer {
	p.t.Helper()
	return p.sendWith(nil, method, path, body)
}

// sendWith is send with more headers.
func (p *platform) sendWith(headers http.Header, method, path string, body any) answer {
	p.t.Helper()
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			p.t.Fatal(err)
		}
		content = strings.NewReader(string(text))
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, content)
	if err != nil {
		p.t.Fatal(err)
	}
	maps.Copy(r.Header, headers)
	if r.Header.Get("Authorization") == "" {
		r.SetBasicAuth(p.ClientID, p.ClientSecret)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer{p.t, method + " " + path, response.StatusCode, text}
}

// call is send for a request that has to succeed.
func (p *platform) call(method, path string, body any) answer {
	p.t.Helper()
	a := p.send(method, path, body)
	if a.status >= 300 {
		p.t.Fatalf("%s: %d %s", a.call, a.status, a.body)
	}
	return a
}

// text returns a value at a path such as data.0.id, or an empty text.
func (a answer) text(path string) string {
	a.t.Helper()
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		a.t.Fatalf("%s: %v: %s", a.call, err, a.body)
	}
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(v) {
				return ""
			}
			value = v[i]
		}
	}
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// waitTimeout is the limit for everything in a tab, and for what a test waits for. It only ends a test
// that would never end.
const waitTimeout = 5 * time.Minute

// eventually polls for a condition that no signal reports.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(waitTimeout); !holds(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: not within %s", what, waitTimeout)
		}
	}
}

// website is the site of a platform, to which customers return.
type website struct {
	URL string

	mu       sync.Mutex
	requests []string
}

func startWebsite(t *testing.T) *website {
	t.Helper()
	w := &website{}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.requests = append(w.requests, r.URL.String()+" from "+r.Referer())
		w.mu.Unlock()
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(
			out, `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><main><h1>Welcome back</h1></main></html>`)
	}))
	t.Cleanup(server.Close)
	w.URL = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	return w
}

// visits are the requests for pages, with the address of the page that the browser sent as the referrer.
func (w *website) visits() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requests
}

// newLink returns a new link of a customer, who returns to the website.
func (p *platform) newLink(customer string, w *website) string {
	p.t.Helper()
	body := map[string]string{}
	if w != nil {
		p.call("PATCH", "/config", map[string]any{"kycRedirectOrigins": []string{w.URL}})
		body["redirectUri"] = w.URL + "/done?customer=1"
	}
	return p.call("POST", "/customers/"+customer+"/kyc-link", body).text("kycUrl")
}

// newBusiness creates a business.
func (p *platform) newBusiness() string {
	p.t.Helper()
	return p.call("POST", "/customers", map[string]any{"customerType": "BUSINESS", "region": "US",
		"businessInfo": map[string]any{"legalName": "Nordlicht Inc"}}).text("id")
}
