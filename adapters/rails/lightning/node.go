package lightning

import (
	"context"
	"errors"
	"fmt"
	"time"

	"causeway/core/lightning"
)

// node is what the service asks of a node.
type node interface {
	// pay asks for the payment of an invoice, and waits a little for what becomes of it. An *answer is the error if the node has said
	// that it does not do it now; any other error leaves open whether it does.
	pay(ctx context.Context, order payOrder) (state, error)
	// track returns what became of a payment.
	track(ctx context.Context, hash Hash) (state, error)
	// addInvoice makes an invoice and returns its text.
	addInvoice(ctx context.Context, order invoiceOrder) (string, error)
	// cancelInvoice makes an invoice unpayable. It returns errSettled if it was paid, and errCannotCancel if the node never can.
	cancelInvoice(ctx context.Context, hash Hash) error
	// last returns the indexes of the invoice that was settled last, and of the last payment; zero if there is none.
	last(ctx context.Context) (Position, error)
	// settled returns some invoices that were settled after an index, in their order, and waits a little for the first one.
	settled(ctx context.Context, after uint64) ([]Settlement, error)
	// payments returns some payments after an index, in their order, also those that have failed.
	payments(ctx context.Context, after uint64) ([]listed, error)
	// lag is how far behind the last index something can still appear; zero if indexes only grow.
	lag() uint64
	// onTheWay returns what the balance lacks of a payment of the service that is on its way, in thousandths of a satoshi.
	onTheWay(satoshis int64) int64
	// balance returns what the channels hold, in thousandths of a satoshi. What is on its way out counts as held but for onTheWay, and moving
	// says whether anything is on its way out or in: it can still be for some milliseconds after it is final.
	balance(ctx context.Context) (held int64, moving bool, err error)
	// about describes the node.
	about(ctx context.Context) (about, error)
	// checkRights returns what is wrong with what the node lets the service do.
	checkRights(ctx context.Context) error
	close()
}

// payOrder is an invoice to be paid.
type payOrder struct {
	invoice string
	hash    Hash
	// satoshis is the amount if the invoice names none.
	satoshis int64
	maxFee   int64 // satoshis
	payFor   time.Duration
}

// invoiceOrder is an invoice to be made.
type invoiceOrder struct {
	memo            string
	milliSatoshis   int64
	descriptionHash [32]byte // zero if the memo is the description
	expiry          time.Duration
	routeHints      bool
}

// about is what a node says of itself.
type about struct {
	version  string
	network  lightning.Network
	key      string
	channels int
	synced   bool
	// opensChannels: the node opens its channel with the first payment that it receives.
	opensChannels bool
}

// stage is how far a payment has come at the node.
type stage int

const (
	notKnown stage = iota // the node has never begun it
	inFlight
	succeeded
	failed
)

// state is what became of a payment at the node.
type state struct {
	stage
	feeMilliSatoshis int64
	// milliSatoshis is what has arrived; zero if the node does not say that.
	milliSatoshis int64
	// reason is why it has failed, such as NO_ROUTE.
	reason string
}

// listed is a payment of the node.
type listed struct {
	state
	Departure
	index uint64
}

// The reasons that pass: the channels had too little, or there was none at the moment.
const insufficientBalance, noChannel = "INSUFFICIENT_BALANCE", "NO_CHANNEL"

// answer is an error that the node has answered with.
type answer struct {
	code    int // of gRPC, or of HTTP
	message string
	// permanent: it never does it.
	permanent bool
}

func (a *answer) Error() string {
	return fmt.Sprintf("the node answers: %s (code %d)", a.message, a.code)
}

// errSettled says that an invoice was paid, and errCannotCancel that the node cancels none.
var (
	errSettled      = errors.New("the invoice was paid")
	errCannotCancel = errors.New("the node cannot cancel invoices")
)
