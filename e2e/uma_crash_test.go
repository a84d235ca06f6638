package e2e

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// crashStep is a moment of a payment from ana to bo at which a process is killed.
type crashStep struct {
	name string
	// reached returns a channel that is closed when the payment is at the step, which may wait for release.
	reached func(ana, bo *umaEnv, release <-chan struct{}) <-chan struct{}
	// victim is whose process is killed.
	victim func(ana, bo *umaEnv) *umaEnv
}

func TestUMA_ProcessKilledAtEachStep(t *testing.T) {
	t.Parallel()
	// One of two installations is killed at each step of a payment between them and started again, once that of the payer and once that
	// of the receiver. In the end every payment has ended on both sides, in the same way, and what left one customer's account has
	// reached the other's: nothing is paid twice, and no invoice is paid whose payment failed.
	ana, bo := newUMAEnvs(t)
	payer := func(ana, _ *umaEnv) *umaEnv { return ana }
	receiver := func(_, bo *umaEnv) *umaEnv { return bo }
	asked := func(prefix string) func(ana, bo *umaEnv, release <-chan struct{}) <-chan struct{} {
		return func(_, bo *umaEnv, release <-chan struct{}) <-chan struct{} {
			at := newOnce()
			bo.proxy.sees(func(r *http.Request) {
				if strings.HasPrefix(r.URL.Path, prefix) && at.reach() {
					<-release
				}
			})
			return at.reached
		}
	}
	answered := func(prefix string) func(ana, bo *umaEnv, release <-chan struct{}) <-chan struct{} {
		return func(_, bo *umaEnv, release <-chan struct{}) <-chan struct{} {
			at := newOnce()
			bo.proxy.changes(func(path string, body []byte) []byte {
				if strings.HasPrefix(path, prefix) && at.reach() {
					<-release
				}
				return body
			})
			return at.reached
		}
	}
	called := func(of func(ana, bo *umaEnv) *umaEnv, path string) func(ana, bo *umaEnv, release <-chan struct{}) <-chan struct{} {
		return func(ana, bo *umaEnv, release <-chan struct{}) <-chan struct{} {
			held := of(ana, bo).holdCall(path)
			go func() { <-release; close(held.goOn) }()
			return held.called
		}
	}
	approving := func(_, bo *umaEnv, release <-chan struct{}) <-chan struct{} {
		at := newOnce()
		bo.hooks.respondWith(func(d delivery) int {
			if d.event == "INCOMING_PAYMENT.PENDING" && at.reach() {
				<-release
			}
			return http.StatusOK
		})
		return at.reached
	}
	const lookups, payments = "/.well-known/lnurlp/", "/uma/payreq/"
	steps := []crashStep{
		{"the payer asks about the receiver", asked(lookups), payer},
		{"the receiver is asked about", asked(lookups), receiver},
		{"the payer asks for an invoice", asked(payments), payer},
		{"the receiver's platform is asked for approval", approving, receiver},
		{"the receiver's node makes the invoice", called(receiver, "/v1/invoices"), receiver},
		{"the receiver has answered with the invoice", answered(payments), receiver},
		{"the payer gets the invoice", answered(payments), payer},
		{"the payer's node is called", called(payer, "/v2/router/send"), payer},
		{"the payer's node is called, and the receiver is gone", called(payer, "/v2/router/send"), receiver},
	}
	for _, step := range steps {
		release := make(chan struct{})
		reached := step.reached(ana, bo, release)
		paid := make(chan struct{})
		go func() {
			defer close(paid)
			ana.payMaybe(bo)
		}()
		select {
		case <-reached:
		case <-waitContext(t).Done():
			t.Fatalf("%s: not reached", step.name)
		}
		victim := step.victim(ana, bo)
		victim.server.kill()
		close(release)
		<-paid
		victim.restart()
		for _, e := range []*umaEnv{ana, bo} {
			e.proxy.sees(nil)
			e.proxy.changes(nil)
			e.hooks.respondWith(nil)
		}
		t.Logf("%s: ana has %d, bo has %d", step.name, ana.held(), bo.held())
	}
	quote := ana.quote(bo, "RECEIVING", 10_00).wantStatus(201) // and both work
	ana.post("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200)
	ana.hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")

	eventually(t, "what the node has paid is completed", func() bool {
		return ana.queryInt("SELECT count(*) FROM transactions WHERE status = 'PROCESSING'") == 0
	})
	ana.expire()
	eventually(t, "what the node has received is credited", func() bool {
		return bo.arrivedFrom(ana)["COMPLETED"] == ana.sentTo(bo)["COMPLETED"]
	})
	bo.expire()
	sent, arrived := ana.sentTo(bo), bo.arrivedFrom(ana)
	t.Logf("sent %v, arrived %v", sent, arrived)
	if sent["COMPLETED"] < 3 || sent["PENDING"]+sent["PROCESSING"]+arrived["PENDING"] > 0 {
		t.Errorf("sent %v, arrived %v", sent, arrived)
	}
	if got := bo.held() - bo.start; got != 10_00*sent["COMPLETED"] {
		t.Errorf("bo has received %d by %d payments", got, sent["COMPLETED"])
	}
	var left int64
	list := ana.get("/transactions?limit=100&type=OUTGOING&status=COMPLETED&receiverAccountIdentifier=%24bo%40pay.test").wantStatus(200)
	for i := range list.list("data") {
		left += list.int("data." + strconv.Itoa(i) + ".sentAmount.amount")
	}
	if got := ana.start - ana.held(); got != left {
		t.Errorf("ana has paid %d by payments of %d", got, left)
	}
}

// payMaybe pays 10.00 to the other customer. While a process is gone, any step may fail.
func (e *umaEnv) payMaybe(to *umaEnv) {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	post := func(path string, body any) apiResponse {
		got, err := e.do(ctx, http.MethodPost, path, body)
		if err != nil {
			return apiResponse{}
		}
		return got
	}
	found, err := e.do(ctx, http.MethodGet, "/receiver/uma/%24bo%40pay.test?customerId="+e.customer, nil)
	if err != nil || found.status != http.StatusOK {
		return
	}
	quote := post("/quotes", e.quoteBody(found.text("lookupId"), to, "RECEIVING", 10_00))
	if quote.status == http.StatusCreated {
		post("/quotes/"+quote.text("id")+"/execute", nil)
	}
}

// once is a moment that is reached once.
type once struct {
	reached chan struct{}
	taken   chan struct{}
}

func newOnce() *once {
	return &once{make(chan struct{}), make(chan struct{}, 1)}
}

// reach reports whether it is reached now.
func (o *once) reach() bool {
	select {
	case o.taken <- struct{}{}:
		close(o.reached)
		return true
	default:
		return false
	}
}
