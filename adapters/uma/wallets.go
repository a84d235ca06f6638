package uma

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"causeway/app/payments"
	"causeway/app/receivers"
	"causeway/core/customer"
	"causeway/core/platform"
	"causeway/core/uma"
)

// walletReceiver returns the receiver whom a wallet pays by Lightning address (LUD-16), whose name has no $.
func (s *Server) walletReceiver(ctx context.Context, r *http.Request, on platform.Platform, prefix string) (receivers.UMAReceiver, error) {
	if !s.Policy.AllowsAnybody() {
		return receivers.UMAReceiver{}, uma.Refuse(uma.OnlyUMA, "payments without UMA are not taken")
	}
	if err := s.Settles(on.ID); err != nil {
		return receivers.UMAReceiver{}, err
	}
	name, err := pathName(r, prefix)
	if err != nil {
		return receivers.UMAReceiver{}, err
	}
	return s.Receivers.LightningReceiver(ctx, on, "$"+strings.TrimPrefix(name, "$")+"@"+on.UMADomain)
}

// walletMetadata is metadata for the Lightning address of a receiver.
func walletMetadata(to receivers.UMAReceiver) string {
	return metadata(strings.TrimPrefix(to.Address, "$"), uuid.Nil)
}

// lookupByWallet answers a wallet that does not speak UMA (LUD-06). A receiver who cannot be paid
// without UMA looks like one who does not exist.
func (s *Server) lookupByWallet(ctx context.Context, r *http.Request, on platform.Platform) (any, error) {
	to, err := s.walletReceiver(ctx, r, on, lookupPath)
	if err != nil {
		return nil, err
	}
	name, _ := customer.SplitUMAAddress(to.Address)
	return lnurlResponse{Tag: "payRequest", Callback: "https://" + on.UMADomain + walletPath + strings.TrimPrefix(name, "$"),
		MinSendable: to.MinSats * 1000, MaxSendable: to.MaxSats * 1000, Metadata: walletMetadata(to)}, nil
}

// walletResponse is the answer to a wallet.
type walletResponse struct {
	Invoice    string     `json:"pr"`
	Routes     []struct{} `json:"routes"`
	Disposable bool       `json:"disposable"` // false: the address may be paid again
}

// payByWallet answers the request of a wallet for an invoice, if the platform approves the payment.
func (s *Server) payByWallet(ctx context.Context, r *http.Request, on platform.Platform) (any, error) {
	to, err := s.walletReceiver(ctx, r, on, walletPath)
	if err != nil {
		return nil, err
	}
	msats, err := strconv.ParseInt(r.URL.Query().Get("amount"), 10, 64)
	if err != nil {
		return nil, uma.Refuse(uma.InvalidInput, "amount must be a whole number of millisatoshi")
	}
	if msats < to.MinSats*1000 || msats > to.MaxSats*1000 {
		return nil, uma.Refuse(uma.AmountOutOfRange, fmt.Sprintf("amount must be from %d to %d millisatoshi", to.MinSats*1000, to.MaxSats*1000))
	}
	invoiced, err := s.Payments.InvoiceUMAPayment(ctx, on, payments.UMAPayRequest{Receiver: to.Address,
		Ask: uma.Ask{Currency: to.Currencies[0].Code, Msats: msats}, DescriptionHash: sha256.Sum256([]byte(walletMetadata(to)))})
	if err != nil {
		return nil, err
	}
	return walletResponse{Invoice: invoiced.Invoice.Request, Routes: []struct{}{}}, nil
}
