package bankfile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
	"causeway/ports/portstest"
	"causeway/ports/railtest"
)

// world is a bank, and processes of the service that are connected to it.
type world struct {
	database
	*portstest.RailHandover
	t          *testing.T
	bank       *bank
	connection rail.Connection
	adapters   []*adapter
	cursor     string
	courses    map[string]railtest.Course // by end-to-end id
	orders     []*bankOrder
	parsed     map[string]int // how often a file was read
	written    int            // files of the bank
	held       []func() error // files that the bank puts down later
	reports    railtest.Reports
	relented   bool
	losesNext  *atomic.Bool // the answer to the next rename is lost
}

var _ railtest.Fixture = (*world)(nil)

func newWorld(t *testing.T, connect func(name, folder string) rail.Connection) *world {
	b := newBank(t)
	d := openDatabase(t)
	return &world{database: d, RailHandover: d.handover("bank"), t: t, bank: b, connection: connect("bank", b.dir),
		courses: map[string]railtest.Course{}, parsed: map[string]int{},
		reports: railtest.Once, losesNext: &atomic.Bool{}}
}

func (w *world) isACH() bool { return w.connection.Rails[0] == corridor.ACH }

// Features implements railtest.Fixture. Banks that take ACH files report only what comes back.
func (w *world) Features() railtest.Features {
	f := railtest.Features{Currencies: w.connection.Currencies, CountsMoney: true, Crashes: true, Codes: true, Stops: true}
	f.Refunds = []railtest.Course{railtest.Settles, railtest.Rejected, railtest.AnswerLost}
	f.Payouts = append(slices.Clone(f.Refunds), railtest.TakenBack)
	if w.isACH() {
		f.Collections = f.Payouts
		return f
	}
	f.Reports, f.PartnerIDs = true, true
	f.Refunds = append(f.Refunds, railtest.RefusedForNow, railtest.Silent)
	f.Payouts = append(f.Payouts, railtest.RefusedForNow, railtest.Silent)
	return f
}

// losingTransport loses the answers to renames.
type losingTransport struct {
	transport.Transport
	loses *atomic.Bool
}

func (l losingTransport) Rename(ctx context.Context, from, to string) error {
	err := l.Transport.Rename(ctx, from, to)
	if err == nil && l.loses.Swap(false) {
		return errors.New("the connection was lost")
	}
	return err
}

// Open implements railtest.Fixture.
func (w *world) Open(context.Context) (ports.Rail, error) {
	a := w.open(w.t, w.connection, w.Store, losingTransport{folderTransport(w.t, w.bank.dir), w.losesNext})
	w.adapters = append(w.adapters, a)
	return a, nil
}

// OpenCrashing implements railtest.Fixture: what a call does on the outside is to store its orders.
func (w *world) OpenCrashing(_ context.Context, effects int) (ports.Rail, func() bool, error) {
	p := &process{endsAt: effects, how: before}
	return w.open(w.t, w.connection, w.stepped(p), folderTransport(w.t, w.bank.dir)),
		func() bool { dead, _ := p.reached(); return dead }, nil
}

// Now implements railtest.Fixture.
func (w *world) Now() time.Time { return w.clock.Now() }

// courseOf has the payment with an id take a course.
func (w *world) courseOf(kind string, n int, c railtest.Course, suffix string) uuid.UUID {
	id := seriesID(kind+" "+string(c), n)
	w.courses[rail.EndToEndID(id)+suffix] = c
	return id
}

// Payout implements railtest.Fixture.
func (w *world) Payout(n int, c railtest.Course) ports.Payout {
	p := w.payout("", n, w.connection.Rails[0])
	p.Transaction.ID.SetUUID(w.courseOf("payout", n, c, ""))
	return p
}

// Collection implements railtest.Fixture.
func (w *world) Collection(n int, c railtest.Course) ports.Collection {
	made := w.collection("", n)
	made.Transaction.ID.SetUUID(w.courseOf("collection", n, c, ""))
	return made
}

// Refund implements railtest.Fixture.
func (w *world) Refund(n int, c railtest.Course) ports.Refund {
	payer := german()
	if w.isACH() {
		payer = american(account.Individual)
	}
	return ports.Refund{ID: w.courseOf("refund", n, c, "-R"), Platform: w.platform, Rail: w.connection.Rails[0], Reference: "REF",
		Amount: money.Amount{Minor: 30_00 + int64(n), Currency: w.connection.Currencies[0]}, Original: ports.Original{Payer: &payer}}
}

// Run implements railtest.Fixture: files are delivered, the bank works, and its files are read.
func (w *world) Run(ctx context.Context) error {
	if w.isACH() {
		w.clock.Advance(12 * time.Hour)
	} else {
		w.clock.Advance(10 * time.Minute)
	}
	for _, c := range w.courses {
		if c == railtest.AnswerLost && len(w.orders) == 0 {
			w.losesNext.Store(true)
		}
	}
	w.poll(ctx)
	if err := w.bank.take(); err != nil {
		return err
	}
	if err := w.receive(); err != nil {
		return err
	}
	if err := w.bankWorks(); err != nil {
		return err
	}
	w.poll(ctx)
	return nil
}

// poll lets every process poll. One that cannot, because the answer of the bank was lost, does so again the next time.
func (w *world) poll(ctx context.Context) {
	for _, a := range w.adapters {
		for range 50 {
			report, err := a.Poll(ctx, w.cursor)
			if err != nil {
				w.t.Logf("poll: %v", err)
				break
			}
			if w.cursor = report.Cursor; !report.More {
				break
			}
		}
	}
}

// receive reads the files that the bank has taken. It executes what is in a file as often as the file comes.
func (w *world) receive() error {
	for name, contents := range w.bank.taken {
		for _, content := range contents[w.parsed[name]:] {
			orders, err := parseOrders(name, content)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			w.orders = append(w.orders, orders...)
			w.parsed[name]++
		}
	}
	return nil
}

// bankWorks executes orders, and reports on them: that they were accepted, and later what became of them.
func (w *world) bankWorks() error {
	held := w.held
	w.held = nil
	for _, o := range w.orders {
		o.days++
		course := w.courses[o.id]
		waits := (course == railtest.RefusedForNow || course == railtest.Silent) && !w.relented
		switch {
		case w.isACH():
			if err := w.workACH(o, course); err != nil {
				return err
			}
		case waits && course == railtest.Silent && o.days == 1:
			if err := w.put(func(string) (string, error) { return "Service unavailable", nil }); err != nil {
				return err
			}
		case waits && course == railtest.RefusedForNow && o.days == 1:
			if err := w.status(o, "PDNG", "AM04"); err != nil {
				return err
			}
		case !waits && o.days == 1:
			if w.reports == railtest.Reversed {
				w.held = append(w.held, func() error { return w.status(o, "ACTC", "") })
			} else if err := w.status(o, "ACTC", ""); err != nil {
				return err
			}
		case !waits && !o.executed && o.days > 1:
			o.executed = true
			status, code := "ACSC", ""
			if course == railtest.Rejected {
				status, code = "RJCT", "AC04"
			}
			if err := w.status(o, status, code); err != nil {
				return err
			}
		}
	}
	for _, put := range held {
		if err := put(); err != nil {
			return err
		}
	}
	return nil
}

// workACH executes an entry, or returns it at once.
func (w *world) workACH(o *bankOrder, course railtest.Course) error {
	if o.executed {
		return nil
	}
	o.executed = true
	if course == railtest.Rejected {
		return w.returnACH(o)
	}
	return nil
}

func (w *world) returnACH(o *bankOrder) error {
	return w.put(func(string) (string, error) { return returnedFile(w.written, o, "R03", w.clock.Now()) })
}

func (w *world) status(o *bankOrder, status, code string) error {
	return w.put(func(id string) (string, error) { return statusOf(id, o, status, code, w.clock.Now()), nil })
}

// put puts a file down, as often as the bank reports.
func (w *world) put(content func(id string) (string, error)) error {
	times := 1
	if w.reports == railtest.Twice {
		times = 2
	}
	for range times {
		w.written++
		name := fmt.Sprintf("bank-%04d", w.written)
		text, err := content(name)
		if err == nil {
			err = w.bank.put(name, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SetReports implements railtest.Fixture.
func (w *world) SetReports(r railtest.Reports) { w.reports = r }

// Relent implements railtest.Fixture.
func (w *world) Relent(context.Context) error {
	w.relented = true
	for _, o := range w.orders {
		o.days = max(o.days, 1)
	}
	return nil
}

// TakeBack implements railtest.Fixture.
func (w *world) TakeBack(_ context.Context, id uuid.UUID) error {
	for _, o := range w.orders {
		if o.id != rail.EndToEndID(id) {
			continue
		}
		if w.isACH() {
			return w.returnACH(o)
		}
		return w.put(func(message string) (string, error) {
			return returnNotification(message, o, "AC04", w.clock.Now()), nil
		})
	}
	return fmt.Errorf("the bank does not know %s", id)
}

// Moved implements railtest.Fixture.
func (w *world) Moved(_ context.Context, id uuid.UUID) (amounts []money.Amount, err error) {
	for _, o := range w.orders {
		if subject := rail.EndToEndID(id); (o.id == subject || o.id == subject+"-R") && o.executed && w.courses[o.id] != railtest.Rejected {
			amounts = append(amounts, o.amount)
		}
	}
	return amounts, nil
}

// OriginalOf implements railtest.Fixture: files name no original payment.
func (w *world) OriginalOf(context.Context, uuid.UUID) (string, error) {
	return "", errors.New("files name no original payment")
}

// Close implements railtest.Fixture.
func (w *world) Close() error {
	var problems []error
	for _, a := range w.adapters {
		problems = append(problems, a.Close())
	}
	return errors.Join(problems...)
}

func TestAdapter_Port(t *testing.T) {
	t.Parallel()
	// The adapter passes the suite of all rails, with a bank that answers in ISO 20022, and with one that takes ACH files.
	for name, connect := range map[string]func(name, folder string) rail.Connection{"ISO 20022": europe, "Nacha": america} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			portstest.Rail(t, func(t *testing.T) railtest.Fixture { return newWorld(t, connect) })
		})
	}
}
