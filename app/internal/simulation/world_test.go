package simulation_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rates/market"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/core/settlement"
	"causeway/core/transaction"
	"causeway/ports"
)

// world is one run of the simulation. Its goroutine decides everything that happens; between two
// of its decisions all other goroutines wait, in pause or for one that does. So a run depends on
// its seed only.
type world struct {
	*memory
	random    *rand.Rand
	idRandom  *rand.Rand
	now       time.Time
	bank      *bank
	market    *market.Market
	processes []*process

	mu       sync.Mutex // of calls and finished, which other goroutines append to
	calls    []*call
	ordered  int // of the calls, those in an order that depends on the seed only
	finished []*intent
	working  int // goroutines that run jobs
	runs     int // that were started

	intents  []*intent
	requests map[ident.Platform]int // how many of them are of each platform
	// connected is the platform whose payments take connections.
	connected ident.Platform
	held      map[heldPayment]bool   // what connections have and has not left
	refusing  map[heldPayment]bool   // what connections will never send
	recalled  map[ident.Receipt]bool // what was taken back, and recalls of which are to be reported
	recalls   []ident.Receipt
	notTaken  int
	seen      map[string]int // outcomes
	waiting   []*intent      // not started, or to be repeated
	active    []*intent
	// usual and usualProcess are what clients want now, and the process that they call: of some
	// requests of one kind a process makes a batch.
	usual, usualProcess int
	// ofAgents: clients want what agents do, mostly with the account busy, so that one agent makes payments at the same time.
	ofAgents bool
	// ofPayers: clients want what payers do who authorise their payments.
	ofPayers bool
	// ofPulls: clients of the platform with connections want what is collected from bank accounts, much of which is refused and taken back.
	ofPulls bool
	// guesses: most of their proofs are wrong.
	guesses bool
	busy    ident.InternalAccount
	token   ident.Token // of those who approve
	// calm: no more faults, and nothing new begins.
	calm bool

	failure string
	history []string
	hash    uint64
}

// start is when a run starts: shortly before the end of a month.
var start = time.Date(2026, 3, 31, 23, 55, 0, 0, time.UTC)

// timetable says when payments are expected to settle.
var timetable = func() *settlement.Timetable {
	made, err := settlement.NewTimetable(time.LoadLocation)
	if err != nil {
		panic(err)
	}
	return made
}()

func newWorld(seed uint64) *world {
	w := &world{memory: newMemory(), market: market.New("simulation"), ofAgents: seed%3 == 0, ofPayers: seed%6 == 1, ofPulls: seed%6 == 5,
		guesses:  seed%12 == 1,
		random:   rand.New(rand.NewPCG(seed, 1)),
		idRandom: rand.New(rand.NewPCG(seed, 2)), now: start, requests: map[ident.Platform]int{}, recalled: map[ident.Receipt]bool{},
		seen: map[string]int{}}
	w.token = ident.NewToken(w.newID, w.now)
	w.bank = &bank{world: w, payouts: map[uuid.UUID]*order{}, collections: map[uuid.UUID]*order{}, refunds: map[uuid.UUID]*order{},
		balances: map[holding]int64{}}
	for _, name := range []string{"one", "two"} {
		w.addPlatform(name)
	}
	w.addConnections()
	for range 2 {
		w.processes = append(w.processes, newProcess(w))
	}
	return w
}

func (w *world) addPlatform(name string) {
	p, err := platform.New(ident.NewPlatform(w.newID, w.now), name, platform.Sandbox, true, w.now)
	if err != nil {
		w.fail("%v", err)
	}
	p.WebhookEndpoint, p.Currencies = "https://"+name+".test/hooks", nil
	for _, code := range money.Currencies() {
		p.Currencies = append(p.Currencies, platform.Currency{Code: code, MinAmount: 1, MaxAmount: math.MaxInt64,
			Directions: []string{string(transaction.Outgoing), string(transaction.Incoming)}})
		p.Fees = append(p.Fees, platform.FeeConfig{Type: platform.CrossCurrencyTransaction, Source: code,
			Fee: platform.Fee{Fixed: money.Amount{Minor: 1, Currency: code}, BasisPoints: 25}})
	}
	p.SCAExemptions = sca.Exemptions{LowValue: name == "one", TrustedBeneficiaries: name == "two"}
	w.platforms[p.ID] = p
	w.addLimits(p)
	for _, customer := range []string{"ana", "ben"} {
		w.addCustomer(p, customer, "")
	}
	w.addCustomer(p, "eva", protectedRegion)
}

func (w *world) addCustomer(p platform.Platform, name, region string) {
	c := customer.Customer{ID: ident.NewCustomer(w.newID, w.now), Platform: p.ID, PlatformCustomerID: name, Type: customer.Individual,
		FullName: "Ana Silva", Region: region,
		UMAAddress: "$" + name + "@" + p.Name + ".test", Status: customer.Approved, CreatedAt: w.now, UpdatedAt: w.now}
	if region == protectedRegion && p.SCAExemptions.TrustedBeneficiaries {
		c.PhoneNumber = "+491701234567"
		c.Contacts.Phone = customer.VerifiedContact{Address: c.PhoneNumber, At: w.now}
	}
	w.customers[c.ID] = c
	for _, currency := range []money.Currency{money.USD, money.EUR, money.USDB} {
		a, err := account.NewInternal(ident.NewInternalAccount(w.newID, w.now), p.ID, c.ID, currency, w.now)
		if err != nil {
			w.fail("%v", err)
		}
		w.internal[a.ID] = a
	}
	for _, a := range []account.External{
		{Currency: money.USD, Type: account.USAccount, Rails: []corridor.Rail{corridor.RTP, corridor.ACH}},
		{Currency: money.BTC, Type: account.Layer2Wallet, Rails: []corridor.Rail{corridor.Layer2}},
		{Currency: money.USDB, Type: account.Layer2Wallet, Rails: []corridor.Rail{corridor.Layer2}},
	} {
		a.ID, a.Platform, a.Customer, a.Status, a.CreatedAt = ident.NewExternalAccount(w.newID, w.now), p.ID, c.ID, account.Active, w.now
		if region == protectedRegion && a.Currency == money.BTC {
			a.TrustedAt = w.now
		}
		w.external[a.ID] = a
	}
	w.addAgent(c)
}

// newID returns a UUIDv7 whose random bits follow from the seed.
func (w *world) newID(at time.Time) uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16|w.idRandom.Uint64()&0xffff)
	binary.BigEndian.PutUint64(id[8:], w.idRandom.Uint64())
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id
}

// chance is true once in n times.
func (w *world) chance(n int) bool { return w.random.IntN(n) == 0 }

func pick[T any](w *world, from []T) T { return from[w.random.IntN(len(from))] }

// record adds a line to the history, which ends at a failure.
func (w *world) record(format string, args ...any) {
	if w.failure != "" {
		return
	}
	line := fmt.Sprintf("%s ", w.now.Format("15:04:05.000")) + fmt.Sprintf(format, args...)
	hash := fnv.New64a()
	_ = binary.Write(hash, binary.BigEndian, w.hash)
	_, _ = hash.Write([]byte(line))
	w.hash = hash.Sum64()
	if w.history = append(w.history, line); len(w.history) > 200 {
		w.history = w.history[100:]
	}
}

// fail ends the run. The first failure is reported.
func (w *world) fail(format string, args ...any) {
	if w.failure == "" {
		w.failure = fmt.Sprintf(format, args...)
	}
}

// run runs a number of steps, and then until nothing is left to do.
func (w *world) run(steps int) {
	for i := 0; i < steps && w.failure == ""; i++ {
		w.step()
		w.settle()
	}
	w.calm = true
	for i := 0; w.failure == "" && !w.atRest(); i++ {
		if i > 20*steps+10_000 {
			w.fail("there is always something left to do: %v jobs, %d requests", w.jobs, len(w.waiting)+len(w.active))
		}
		w.finish()
		w.settle()
	}
	if w.failure == "" {
		w.checkRest()
	}
	w.stop()
}

func (w *world) atRest() bool {
	return len(w.calls)+len(w.waiting)+len(w.active)+w.working+len(w.jobs)+len(w.recalls) == 0
}

// stop ends all goroutines.
func (w *world) stop() {
	for _, p := range w.processes {
		p.crashed = true
	}
	for synctest.Wait(); len(w.calls) > 0; synctest.Wait() {
		w.release(0)
	}
}

// settle waits until nothing moves by itself, and notes what the clients have learned.
func (w *world) settle() {
	synctest.Wait()
	// Goroutines that go on at the same time add their calls in any order.
	slices.SortStableFunc(w.calls[w.ordered:], func(a, b *call) int {
		return cmp.Or(slices.Index(w.processes, a.caller)-slices.Index(w.processes, b.caller), cmp.Compare(a.name, b.name),
			cmp.Compare(a.cause, b.cause))
	})
	w.ordered = len(w.calls)
	slices.SortFunc(w.finished, func(a, b *intent) int { return a.number - b.number })
	for _, done := range w.finished {
		w.active = slices.DeleteFunc(w.active, func(i *intent) bool { return i == done })
		w.learn(done)
	}
	w.finished = nil
}

// step makes one random decision.
func (w *world) step() {
	switch n := w.random.IntN(1000); {
	case n%5 == 0 && len(w.refused()) > 0:
		w.decide(pick(w, w.processes))
	case n < 500 && len(w.calls) > 0:
		w.release(w.random.IntN(len(w.calls)))
	case n < 730 && len(w.active) < 12:
		w.startIntent()
	case n < 880:
		w.startJobs()
	case n < 890:
		w.reportNews()
	case n < 905:
		w.changeAgent()
	case n < 940:
		w.moveClock()
	case n < 945 && len(w.active) > 0:
		gone := pick(w, w.active)
		w.record("client of %d goes away", gone.number)
		gone.cancel()
	case n < 947:
		w.crash()
	case n < 955:
		w.changeParty()
	case n < 995:
		w.changeRails()
	default:
		w.repeatReceipt()
	}
}

// finish makes the next decision when everything is to come to an end.
func (w *world) finish() {
	switch {
	case len(w.calls) > 0:
		w.release(w.random.IntN(len(w.calls)))
	case len(w.waiting) > 0:
		w.usualProcess = w.random.IntN(len(w.processes))
		w.startIntent()
	case w.startJobs():
	default:
		w.finishRails()
		for id, j := range w.jobs { // an operator retries dead jobs
			if j.Dead {
				j.Dead, j.Due, j.Attempts = false, w.now, 0
				w.jobs[id] = j
			}
		}
		w.now = w.now.Add(time.Minute)
	}
}

// release lets a call happen.
func (w *world) release(i int) {
	c := w.calls[i]
	w.calls = slices.Delete(w.calls, i, i+1)
	w.ordered = len(w.calls)
	chosen := succeed
	if !w.calm && len(c.fates) > 0 && w.chance(6) {
		chosen = pick(w, c.fates)
	}
	w.record("%s of process %d %s", c.name, slices.Index(w.processes, c.caller), chosen)
	c.resume <- chosen
}

// steps are the steps of the jobs that are run.
var steps = []transaction.Step{transaction.StepCollect, transaction.StepDebitWallet, transaction.StepCreditWallet,
	transaction.StepSettleWallet, transaction.StepDeliver,
	transaction.StepCheckReturn, transaction.StepCheckCollection, transaction.StepCallAgain, transaction.StepExpire,
	transaction.StepPull, transaction.StepRefund, transaction.StepSendBack, transaction.StepRequestApproval, transaction.StepTimeOut,
	transaction.StepForward}

// startJobs runs some due jobs of a step in a process, and reports whether there were any.
func (w *world) startJobs() bool {
	due := slices.DeleteFunc(slices.Clone(steps), func(s transaction.Step) bool { return len(w.dueJobs(s, w.now)) == 0 })
	if len(due) == 0 {
		return false
	}
	p, a := pick(w, w.processes), &assignment{step: pick(w, due), limit: 1 + w.random.IntN(4)}
	w.record("process %d runs %d jobs %s", slices.Index(w.processes, p), a.limit, a.step)
	w.working++
	w.runs++
	ctx := context.WithValue(ports.ForAllPlatforms(context.Background()), causeKey{}, w.runs)
	go func() {
		err := p.service.RunDue(context.WithValue(ctx, assignmentKey{}, a))
		w.mu.Lock()
		defer w.mu.Unlock()
		w.working--
		if err != nil {
			w.fail("running jobs: %v", err)
		}
	}()
	return true
}

// reportNews makes a partner report that there is news of some payments or receipts, which mostly there is not. A report that
// fails is lost here: the jobs of the steps ask anyway.
func (w *world) reportNews() {
	about := map[ident.Platform][]ports.RailSubject{}
	for range 1 + w.random.IntN(3) {
		if all := sortedKeys(w.transactions); len(all) > 0 {
			t := w.transactions[pick(w, all)]
			about[t.Platform] = append(about[t.Platform], ports.RailSubject{Platform: t.Platform, Subject: t.ID.UUID()})
		}
		if all := sortedKeys(w.receipts); len(all) > 0 {
			r := w.receipts[pick(w, all)]
			about[r.Platform] = append(about[r.Platform], ports.RailSubject{Platform: r.Platform, Subject: r.ID.UUID()})
		}
	}
	p := pick(w, w.processes)
	for _, platform := range sortedKeys(about) {
		w.record("partner reports news of %d payments to process %d", len(about[platform]), slices.Index(w.processes, p))
		w.working++
		w.runs++
		ctx := context.WithValue(ports.ForPlatform(context.Background(), platform), causeKey{}, w.runs)
		go func() {
			err := p.service.CallAgain(ctx, about[platform])
			w.mu.Lock()
			defer w.mu.Unlock()
			w.working--
			if err != nil && !isTemporary(err) {
				w.fail("reporting news: %v", err)
			}
		}()
	}
}

// moveClock moves the clock: a little, beyond a lease or a quote, or back.
func (w *world) moveClock() {
	by := pick(w, []time.Duration{time.Millisecond, time.Second, time.Second, 5 * time.Second, 31 * time.Second, 5 * time.Minute,
		-time.Second, -3 * time.Second})
	w.now = w.now.Add(by)
	w.record("clock moves by %s", by)
}

// crash replaces a process. What it was doing has no more effect.
func (w *world) crash() {
	i := w.random.IntN(len(w.processes))
	w.record("process %d crashes", i)
	w.processes[i].crashed = true
	w.processes[i] = newProcess(w)
}

// changeParty changes whether a customer or an account may move money. Mostly they may.
func (w *world) changeParty() {
	good := !w.chance(3)
	switch w.random.IntN(4) {
	case 3:
		w.endSession()
		w.changeLogin()
	case 0:
		c := w.customers[pick(w, sortedKeys(w.customers))]
		c.Status = choose(good, customer.Approved, customer.Rejected)
		w.customers[c.ID] = c
		w.record("customer %s is %s", c.PlatformCustomerID, c.Status)
	case 1:
		a := w.internal[pick(w, sortedKeys(w.internal))]
		a.Status = choose(good, account.InternalActive, account.InternalFrozen)
		w.internal[a.ID] = a
		w.record("account %s is %s", a.ID, a.Status)
	default:
		a := w.external[pick(w, sortedKeys(w.external))]
		a.Status = choose(good, account.Active, account.Inactive)
		w.external[a.ID] = a
		w.record("account %s is %s", a.ID, a.Status)
	}
}

func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// isTemporary reports whether a client does not know what became of its request, and repeats it.
func isTemporary(err error) bool {
	return errors.Is(err, context.Canceled) || fault.Is(err, fault.ServiceUnavailable)
}

// checkJobError checks that a job failed because of a fault that the simulation made.
func (w *world) checkJobError(j ports.Job) {
	if !strings.Contains(j.LastError, errRolledBack.Message) && !strings.Contains(j.LastError, ports.ErrLeaseLost.Error()) {
		w.fail("the job %s of %v fails: %s", j.Step, j.Subjects, j.LastError)
	}
}
