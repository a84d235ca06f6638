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
)

func TestCommitAnswerCut(t *testing.T) {
	t.Parallel()
	// The database commits a payment and the connection breaks before it can say so:
	// the payer's program is not told that it failed for good, asks again with the same
	// key, and there is exactly one payment. The same holds when the connection breaks
	// before the commit arrives.
	for name, cut := range map[string]string{"after the commit": "cut_committed", "before the commit": "cut_commit"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newDatabase(t)
			worker := serve(t, h.database)
			between := startWire(t, h.database, cut)
			h.server = serve(t, between.database, "--no-workers")
			h.party = h.found("Sandbox", "SANDBOX", "--regulated")
			hooks := (&party{client: h.client.at(worker), platform: h.platform}).listen()

			var paid []answer
			for _, path := range []string{"/quotes", "/sandbox/send"} {
				for range 4 {
					customer := h.customer()
					wallet := h.wallet(customer, "")
					keyed := h.with("Idempotency-Key", uuid.NewString())
					body := ramp(customer, wallet, "SENDING", 10050)
					quote := answer{}
					if path == "/sandbox/send" {
						quote = h.post("/quotes", body).want(201)
						body = object{"reference": reference(quote), "currencyCode": "USD"}
					}

					cuts := between.cuts.Load()
					between.armed.Store(true)
					first, err := keyed.try(t.Context(), http.MethodPost, path, body)
					if between.armed.Swap(false) || between.cuts.Load() != cuts+1 {
						t.Fatalf("POST %s: no commit was cut: %d %s %v", path, first.status, first.text, err)
					}
					if err == nil && first.status < 500 && first.status >= 300 {
						t.Errorf("POST %s: an answer for good: %d %s", path, first.status, first.text)
					}
					again := keyed.post(path, body)

					if again.status >= 300 {
						t.Fatalf("POST %s again: %d %s", path, again.status, again.text)
					}
					if err == nil && first.status < 300 && !bytes.Equal(first.text, again.text) {
						t.Errorf("POST %s: two answers:\n%s\n%s", path, first.text, again.text)
					}
					if path == "/quotes" {
						quote = again
						if n := h.count("SELECT count(*) FROM quotes q JOIN transactions t USING (platform_id) WHERE t.id = q.transaction_id AND t.customer_id = $1", bare(customer)); n != 1 {
							t.Errorf("%d quotes with one key", n)
						}
						h.pay(quote, 0).want(200)
					}
					if n := h.count("SELECT count(*) FROM receipts WHERE reference = $1", reference(quote)); n != 1 {
						t.Errorf("%d payments with one key", n)
					}
					paid = append(paid, quote)
				}
			}

			for _, quote := range paid {
				hooks.story(quote.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
			}
			if n := h.count("SELECT count(*) FROM ledger_postings WHERE kind = 'delivered'"); n != int64(len(paid)) {
				t.Errorf("%d deliveries of %d payments", n, len(paid))
			}
			if n := h.count("SELECT count(*) FROM ledger_postings WHERE kind LIKE 'refund%'"); n != 0 {
				t.Errorf("%d refunds", n)
			}
		})
	}
}

// wire is a proxy between a server and the database that can cut a connection at the
// very moment of a commit.
type wire struct {
	database string // to connect to instead
	armed    atomic.Bool
	cuts     atomic.Int64
}

// wires are known to the toxics by name, because toxiproxy makes those itself.
var wires = map[string]*wire{}

func init() {
	for _, kind := range []string{"cut_committed", "cut_commit"} {
		wires[kind] = &wire{}
	}
	toxics.Register("cut_committed", new(cutCommitted))
	toxics.Register("cut_commit", new(cutCommit))
}

// cutCommitted sits on the way back: it keeps the word that a commit was done, and
// ends the connection.
type cutCommitted struct{}

func (*cutCommitted) Pipe(stub *toxics.ToxicStub) {
	pipe(stub, wires["cut_committed"], []byte("COMMIT\x00"))
}

// commitStatement is how the driver names the prepared statement COMMIT.
var commitStatement = func() []byte {
	sum := sha256.Sum256([]byte("COMMIT"))
	return []byte(hex.EncodeToString(sum[:24]))
}()

// cutCommit sits on the way there: it keeps the commit, and ends the connection.
type cutCommit struct{}

func (*cutCommit) Pipe(stub *toxics.ToxicStub) {
	pipe(stub, wires["cut_commit"], commitStatement)
}

// pipe passes everything on until, armed, it meets the words. The way back always
// has the command's tag in one piece with its head; what was sent before goes through.
func pipe(stub *toxics.ToxicStub, w *wire, words []byte) {
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
				w.cuts.Add(1)
				stub.Close()
				return
			}
			stub.Output <- chunk
		}
	}
}

// startWire puts toxiproxy in front of the database, and a forwarder behind it where
// the database is on a unix socket.
func startWire(t *testing.T, database, cut string) *wire {
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
		upstream = forward(t, folder+"/.s.PGSQL."+port)
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
	w := wires[cut]
	w.database = target.String()
	return w
}

// forward makes a unix socket reachable over TCP.
func forward(t *testing.T, socket string) string {
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
