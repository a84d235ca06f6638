package lndtest

import (
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"causeway/core/lightning"
)

// Macaroon is one with the permissions that the service needs, and AdminMacaroon one with all of them.
const (
	Macaroon      = "0201036c6e6400"
	AdminMacaroon = "0201036c6e64ff"
)

// Fate is what becomes of a payment on the network.
type Fate string

// The fates.
const (
	Arrives Fate = ""         // with the next step of the network, or at once if the node is instant
	Stuck   Fate = "STUCK"    // on its way until the fate changes
	NoRoute Fate = "NO_ROUTE" // fails so
)

// Node is a node.
type Node struct {
	Network lightning.Network
	Key     *secp256k1.PrivateKey
	// Now is the clock of the node, and Fee what routing costs, in thousandths of a satoshi.
	Now func() time.Time
	Fee int64
	// Instant: payments arrive at once.
	Instant bool
	// Version is that of phoenixd; a present one if it is empty.
	Version string
	// AnswersWithin, unless zero, is how long phoenixd waits for the end of a payment before it closes the connection without an answer.
	AnswersWithin time.Duration

	mu       *sync.Mutex // shared by connected nodes
	peers    []*Node
	changed  *sync.Cond
	balance  int64 // thousandths of a satoshi
	payments map[[32]byte]*payment
	begun    int64 // payments
	invoices []*invoice
	settled  int64
	denied   map[string]bool // permissions that the macaroon lacks
	// Of phoenixd.
	onChain    map[int64]any // payments on chain by their time
	channelFee int64
	lastTick   int64
}

type payment struct {
	hash          [32]byte
	satoshis, fee int64 // thousandths
	fate          Fate
	status        string
	reason        string
	times         int // it has arrived
	begun         int
	index         int64
	at            time.Time
	ended         int64 // milliseconds
}

type invoice struct {
	memo, request, state string
	hash                 [32]byte
	milliSatoshis, paid  int64
	added, settled       int64
	settledAt            time.Time
	ended, kept          int64 // milliseconds; thousandths
}

// New returns a node whose channels hold an amount.
func New(n lightning.Network, satoshis int64) *Node {
	node := &Node{Network: n, Key: NewPayee(n).Key, Now: time.Now, Fee: 1_234, balance: satoshis * 1000, payments: map[[32]byte]*payment{},
		denied: map[string]bool{}, onChain: map[int64]any{}, mu: &sync.Mutex{}}
	node.changed = sync.NewCond(node.mu)
	return node
}

// Connect makes new nodes pay each other's invoices, before any of them is served.
func Connect(nodes ...*Node) {
	for _, n := range nodes {
		n.mu, n.peers = nodes[0].mu, nodes
		n.changed = sync.NewCond(n.mu)
	}
}

// Deny takes a permission from the macaroon.
func (n *Node) Deny(permission string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.denied[permission] = true
}

// Allow gives a permission back.
func (n *Node) Allow(permission string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.denied, permission)
}

// SetFate sets what becomes of the payment of an invoice, also of one that is on its way.
func (n *Node) SetFate(text string, f Fate) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.payment(hashOf(text)).fate = f
}

func (n *Node) payment(hash [32]byte) *payment {
	if n.payments[hash] == nil {
		n.payments[hash] = &payment{hash: hash}
	}
	return n.payments[hash]
}

func hashOf(text string) [32]byte {
	i, err := lightning.ParseInvoice(text)
	if err != nil {
		panic(err)
	}
	return i.PaymentHash
}

// Paid returns the amounts that have arrived for a payment hash, one for each time, and how often the node has begun it.
func (n *Node) Paid(hash [32]byte) (satoshis []int64, begun int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.payments[hash]
	if p == nil {
		return nil, 0
	}
	for range p.times {
		satoshis = append(satoshis, p.satoshis/1000)
	}
	return satoshis, p.begun
}

// Balance returns what the channels hold, in thousandths of a satoshi.
func (n *Node) Balance() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.balance
}

// SetBalance sets what the channels hold.
func (n *Node) SetBalance(satoshis int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.balance = satoshis * 1000
}

// SetRouting sets the fee of later payments, and whether they arrive at once.
func (n *Node) SetRouting(fee int64, instant bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Fee, n.Instant = fee, instant
}

// AddBalance adds to what the channels hold, in thousandths of a satoshi.
func (n *Node) AddBalance(milliSatoshis int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.balance += milliSatoshis
}

// SettleFate ends that the payment of an invoice is stuck.
func (n *Node) SettleFate(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.payment(hashOf(text)); p.fate == Stuck {
		p.fate = Arrives
	}
}

// Step lets what is on its way arrive or fail.
func (n *Node) Step() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.payments {
		n.end(p)
	}
	n.changed.Broadcast()
}

// end ends a payment that is on its way.
func (n *Node) end(p *payment) {
	switch {
	case p.status != "IN_FLIGHT" || p.fate == Stuck:
	case p.fate == NoRoute:
		p.status, p.reason, p.ended = "FAILED", "FAILURE_REASON_NO_ROUTE", n.tick()
		n.balance += p.satoshis + p.fee
	case !n.reaches(p):
		p.status, p.reason, p.ended = "FAILED", "FAILURE_REASON_INCORRECT_PAYMENT_DETAILS", n.tick()
		n.balance += p.satoshis + p.fee
	default:
		p.status, p.ended = "SUCCEEDED", n.tick()
		p.times++
	}
}

// reaches reports whether a payment to a connected node, if it is one, is taken there.
func (n *Node) reaches(p *payment) bool {
	for _, peer := range n.peers {
		if i := peer.invoice(p.hash); i != nil {
			return p.satoshis >= i.milliSatoshis && peer.settle(i, p.satoshis)
		}
	}
	return true
}

// AddInvoice makes an invoice by hand, as lncli does.
func (n *Node) AddInvoice(memo string, milliSatoshis int64) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.addInvoice(memo, milliSatoshis, [32]byte{}, time.Hour).request
}

// AddDescribedInvoice is AddInvoice with the hash of a description, as it is made for others.
func (n *Node) AddDescribedInvoice(description [32]byte, milliSatoshis int64) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.addInvoice("", milliSatoshis, description, time.Hour).request
}

func (n *Node) addInvoice(memo string, milliSatoshis int64, description [32]byte, expiry time.Duration) *invoice {
	var preimage [32]byte
	_, _ = rand.Read(preimage[:])
	i := &invoice{memo: memo, hash: sha256.Sum256(preimage[:]), milliSatoshis: milliSatoshis, state: "OPEN", added: int64(len(n.invoices)) + 1}
	i.request = Write(n.Key, Terms{Network: n.Network, MilliSatoshis: milliSatoshis, Hash: i.hash, DescriptionHash: description,
		Description: memo, At: n.Now(), Expiry: expiry})
	n.invoices = append(n.invoices, i)
	return i
}

// Pay pays an invoice of the node from elsewhere, with an amount if it is above that of the invoice. It returns false if it cannot be paid.
func (n *Node) Pay(text string, milliSatoshis int64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := n.invoice(hashOf(text))
	return i != nil && n.settle(i, milliSatoshis)
}

func (n *Node) settle(i *invoice, milliSatoshis int64) bool {
	if i.state != "OPEN" {
		return false
	}
	n.settled++
	i.state, i.paid, i.settled, i.settledAt = "SETTLED", max(i.milliSatoshis, milliSatoshis), n.settled, n.Now()
	i.ended, i.kept = n.tick(), n.channelFee
	n.balance += i.paid - i.kept
	n.changed.Broadcast()
	return true
}

func (n *Node) invoice(hash [32]byte) *invoice {
	at := slices.IndexFunc(n.invoices, func(i *invoice) bool { return i.hash == hash })
	if at < 0 {
		return nil
	}
	return n.invoices[at]
}

// Invoices returns how many invoices the node has made.
func (n *Node) Invoices() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.invoices)
}
