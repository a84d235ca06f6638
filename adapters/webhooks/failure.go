package webhooks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"causeway/core/event"
	"causeway/ports"
)

// failureResponse says why there was no answer. ctx is the caller's, limited has the timeout.
func failureResponse(ctx, limited context.Context, err error) ports.WebhookResponse {
	var network net.Error
	switch {
	case errors.Is(err, errForbiddenAddress):
		return ports.WebhookResponse{Outcome: event.Forbidden, Error: describeError(err)}
	case ctx.Err() != nil:
		return ports.WebhookResponse{Outcome: event.Unreachable, Error: "the delivery was interrupted"}
	case limited.Err() != nil, errors.As(err, &network) && network.Timeout():
		return ports.WebhookResponse{Outcome: event.TimedOut, Error: "no answer in time"}
	default:
		return ports.WebhookResponse{Outcome: event.Unreachable, Error: describeError(err)}
	}
}

// describeError puts an error in words for the platform that owns the receiver: what it
// can do something about, nothing about our side of the connection.
func describeError(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var hostname x509.HostnameError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, errForbiddenURL), errors.Is(err, errForbiddenAddress):
		return "webhooks are not sent to this address"
	case errors.As(err, &dns):
		return "the host name does not resolve"
	case errors.As(err, &hostname):
		return "the certificate is for another host name"
	case errors.As(err, &certificate):
		return "the certificate is not valid: " + shortReason(certificate.Err.Error())
	case errors.As(err, &alert), errors.As(err, &record):
		return "TLS could not be agreed on"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host cannot be reached"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed without an answer"
	default:
		return "no valid HTTP answer"
	}
}

func shortReason(text string) string {
	text = strings.TrimPrefix(text, "x509: ")
	return sanitize([]byte(text[:min(len(text), 200)]))
}
