package uma

import (
	"strings"
	"time"
	"unicode"

	"causeway/core/ident"
	"causeway/core/transaction"
)

// KeptInvoice is a UMA invoice as a platform keeps it: one that it has issued, or one that its customer is asked to pay or pays.
type KeptInvoice struct {
	ID       ident.UMAInvoice
	Platform ident.Platform
	Invoice
	// Text is the signed invoice.
	Text string
	// To and From are the receiver and the sender if they are customers of the platform.
	To, From ident.Customer
	// Payment is the last payment of it; zero for none.
	Payment ident.Transaction
	// AskedUntil is until when a quote that is being made is the only one; zero for no quote.
	AskedUntil time.Time
	Delivery   Delivery
	CreatedAt  time.Time
}

// Delivery is what became of an issued invoice that is sent to the provider of its sender; zero for others.
type Delivery struct {
	Status DeliveryStatus
	// Reason says why that provider does not take it.
	Reason string
}

// DeliveryStatus is the status of a delivery.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliverySending   DeliveryStatus = "SENDING"
	DeliveryDelivered DeliveryStatus = "DELIVERED"
	DeliveryRefused   DeliveryStatus = "REFUSED"
)

// RefusedDelivery returns the delivery of an invoice that the provider of its sender does not take.
func RefusedDelivery(reason string) Delivery {
	reason = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(reason[:min(len(reason), maxDeliveryReason)], ""))
	return Delivery{DeliveryRefused, reason}
}

// maxDeliveryReason is the longest reason of a delivery, in bytes.
const maxDeliveryReason = 400

const (
	minSendPause, maxSendPause = 30 * time.Second, time.Hour
	// lastSend is how long before its expiry an invoice is sent for the last time.
	lastSend = 10 * time.Second
)

// SendAgain returns when an invoice is sent again whose provider was not reached: after as long as it has been tried, at most an hour, and
// once shortly before it expires. It returns false after that.
func (k KeptInvoice) SendAgain(now time.Time) (time.Time, bool) {
	next := now.Add(min(max(now.Sub(k.CreatedAt), minSendPause), maxSendPause))
	if last := k.ExpiresAt.Add(-lastSend); next.After(last) {
		next = last
	}
	return next, next.After(now)
}

// InvoiceStatus is the status of a UMA invoice.
type InvoiceStatus string

// The statuses of a UMA invoice.
const (
	InvoicePending    InvoiceStatus = "PENDING"
	InvoiceProcessing InvoiceStatus = "PROCESSING"
	InvoicePaid       InvoiceStatus = "PAID"
	InvoiceExpiredNow InvoiceStatus = "EXPIRED"
)

// Status returns the status at a time; payment is that of the last payment, empty for none.
func (k KeptInvoice) Status(payment transaction.Status, now time.Time) InvoiceStatus {
	switch {
	case payment == transaction.Completed:
		return InvoicePaid
	case payment != "" && !isOver(payment):
		return InvoiceProcessing
	case !k.ExpiresAt.After(now):
		return InvoiceExpiredNow
	default:
		return InvoicePending
	}
}

// isOver reports whether a payment from an account has ended without having moved money, for ever.
func isOver(payment transaction.Status) bool {
	return payment == transaction.Failed || payment == transaction.Expired
}

// CheckUnpaid returns an error unless another payment of the invoice may begin: each is paid once.
func (k KeptInvoice) CheckUnpaid(payment transaction.Status, now time.Time) error {
	switch k.Status(payment, now) {
	case InvoicePaid:
		return refuse(InvalidInvoice, "the UMA invoice was paid")
	case InvoiceProcessing:
		return refuse(InvalidInvoice, "the UMA invoice has a payment already; another one is possible when that has failed or expired")
	case InvoiceExpiredNow:
		return refuse(InvoiceExpired, "the UMA invoice has expired")
	case InvoicePending:
	}
	if k.AskedUntil.After(now) {
		return ErrBeingQuoted
	}
	return nil
}

// ErrBeingQuoted is the Refusal of a payment of an invoice while a quote of it is being made, which lasts a minute at most.
var ErrBeingQuoted = refuse(InvalidInvoice, "another quote of the UMA invoice is being made")

// MayReplace reports whether a pay request of a sender may take the place of the last payment, once its Lightning invoice can no longer be
// paid: the sender asks again, having no use for the first answer, or the payment has lapsed.
func MayReplace(last transaction.Transaction, sender string, now time.Time) bool {
	return last.Type == transaction.Incoming && last.IncomingState() == transaction.AwaitingPayment &&
		(last.Source.UMA == sender || !last.ExpiresAt.After(now))
}
