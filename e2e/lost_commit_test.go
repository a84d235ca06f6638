package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"causeway/e2e/kit"
)

func TestCommit_LostConnectionDoesNotDuplicatePayment(t *testing.T) {
	t.Parallel()
	// The database commits a payment and the connection ends before the result is sent: the
	// response is not final, the same request with the same key is repeated, and there is
	// exactly one payment. The same holds if the connection ends before the commit.
	for name, cut := range map[string]string{"after the commit": "cut_committed", "before the commit": "cut_commit"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newDatabaseEnv(t)
			worker := startServer(t, h.databaseURL)
			between := startDatabaseProxy(t, h.databaseURL, cut)
			h.server = startServer(t, between.databaseURL, "--no-workers")
			h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
			hooks := (&tenant{client: h.client.withServer(worker), platformID: h.platformID}).startReceiver()

			var paid []apiResponse
			for _, path := range []string{"/quotes", "/sandbox/send"} {
				for range 4 {
					customer := h.createCustomer()
					wallet := h.createWallet(customer, "")
					keyed := h.withHeader("Idempotency-Key", uuid.NewString())
					body := kit.RampQuoteBody(customer, wallet, "SENDING", 10050)
					quote := apiResponse{}
					if path == "/sandbox/send" {
						quote = h.post("/quotes", body).wantStatus(201)
						body = object{"reference": paymentReference(quote), "currencyCode": "USD"}
					}

					cuts := between.cutCount.Load()
					between.armed.Store(true)
					first, err := keyed.do(t.Context(), http.MethodPost, path, body)
					if between.armed.Swap(false) || between.cutCount.Load() != cuts+1 {
						t.Fatalf("POST %s: no commit was cut: %d %s %v", path, first.status, first.body, err)
					}
					if err == nil && first.status < 500 && first.status >= 300 {
						t.Errorf("POST %s: a final response: %d %s", path, first.status, first.body)
					}
					again := keyed.post(path, body)

					if again.status >= 300 {
						t.Fatalf("POST %s again: %d %s", path, again.status, again.body)
					}
					if err == nil && first.status < 300 && !bytes.Equal(first.body, again.body) {
						t.Errorf("POST %s: two responses:\n%s\n%s", path, first.body, again.body)
					}
					if path == "/quotes" {
						quote = again
						if n := h.queryInt("SELECT count(*) FROM quotes q JOIN transactions t USING (platform_id) WHERE t.id = q.transaction_id AND t.customer_id = $1", uuidOf(customer)); n != 1 {
							t.Errorf("%d quotes with one key", n)
						}
						h.payQuote(quote, 0).wantStatus(200)
					}
					if n := h.queryInt("SELECT count(*) FROM receipts WHERE reference = $1", paymentReference(quote)); n != 1 {
						t.Errorf("%d payments with one key", n)
					}
					paid = append(paid, quote)
				}
			}

			for _, quote := range paid {
				hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
			}
			if n := h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind = 'delivered'"); n != int64(len(paid)) {
				t.Errorf("%d deliveries of %d payments", n, len(paid))
			}
			if n := h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind LIKE 'refund%'"); n != 0 {
				t.Errorf("%d refunds", n)
			}
		})
	}
}

// databaseProxy is a proxy between a server and the database that can cut a connection at a
// commit.
type databaseProxy struct {
	databaseURL string // to connect to instead
	armed       atomic.Bool
	cutCount    atomic.Int64
}

// databaseProxies are found by name, because toxiproxy creates the toxics itself.
var databaseProxies = map[string]*databaseProxy{}

func init() {
	for _, kind := range []string{"cut_committed", "cut_commit"} {
		databaseProxies[kind] = &databaseProxy{}
	}
	toxics.Register("cut_committed", new(cutAfterCommit))
	toxics.Register("cut_commit", new(cutBeforeCommit))
}

// cutAfterCommit drops the result of a commit, and ends the connection.
type cutAfterCommit struct{}

func (*cutAfterCommit) Pipe(stub *toxics.ToxicStub) {
	forwardUntilCommit(stub, databaseProxies["cut_committed"], []byte("COMMIT\x00"))
}

// commitStatementName is the driver's name for the prepared statement COMMIT.
var commitStatementName = func() []byte {
	sum := sha256.Sum256([]byte("COMMIT"))
	return []byte(hex.EncodeToString(sum[:24]))
}()

// cutBeforeCommit drops the commit, and ends the connection.
type cutBeforeCommit struct{}

func (*cutBeforeCommit) Pipe(stub *toxics.ToxicStub) {
	forwardUntilCommit(stub, databaseProxies["cut_commit"], commitStatementName)
}

// forwardUntilCommit forwards everything until, if armed, it finds the text. The result always
// has the command's tag in one chunk with its head; what was sent before is forwarded.
func forwardUntilCommit(stub *toxics.ToxicStub, w *databaseProxy, words []byte) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case chunk := <-stub.Input:
			if chunk == nil {
				stub.Close()
				return
			}
			if bytes.Contains(chunk.Data, words) && w.armed.CompareAndSwap(true, false) {
				w.cutCount.Add(1)
				stub.Close()
				return
			}
			stub.Output <- chunk
		}
	}
}

// startDatabaseProxy starts toxiproxy in front of the database, with a forwarder if the
// database has a Unix socket.
func startDatabaseProxy(t *testing.T, database, cut string) *databaseProxy {
	t.Helper()
	target, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	upstream := target.Host
	query := target.Query()
	if folder := query.Get("host"); strings.HasPrefix(folder, "/") {
		port := query.Get("port")
		if port == "" {
			port = "5432"
		}
		upstream = forwardUnixSocket(t, folder+"/.s.PGSQL."+port)
	}
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	proxy := toxiproxy.NewProxy(api, "database", "127.0.0.1:0", upstream)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	stream := map[string]string{"cut_committed": "downstream", "cut_commit": "upstream"}[cut]
	if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(`{"type": "` + cut + `", "stream": "` + stream + `"}`)); err != nil {
		t.Fatal(err)
	}
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	target.Host, target.RawQuery = proxy.Listen, query.Encode()
	w := databaseProxies[cut]
	w.databaseURL = target.String()
	return w
}

// forwardUnixSocket makes a Unix socket reachable over TCP.
func forwardUnixSocket(t *testing.T, socket string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			to, err := net.Dial("unix", socket)
			if err != nil {
				_ = from.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
				go func() {
					_, _ = io.Copy(way[0], way[1]) // ends when either side does
					_, _ = way[0].Close(), way[1].Close()
				}()
			}
		}
	}()
	return listener.Addr().String()
}
