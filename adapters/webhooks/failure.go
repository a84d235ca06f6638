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

// failureResponse returns why there was no response. ctx is the context of the caller, and
// requestCtx has the timeout of the request.
func failureResponse(ctx, requestCtx context.Context, err error) ports.WebhookResponse {
	var network net.Error
	switch {
	case errors.Is(err, errForbiddenAddress):
		return ports.WebhookResponse{Outcome: event.Forbidden, Error: describeError(err)}
	case ctx.Err() != nil:
		return ports.WebhookResponse{Outcome: event.InternalError, Error: "the delivery was interrupted"}
	case isOurs(err):
		return ports.WebhookResponse{Outcome: event.InternalError, Error: err.Error()}
	case requestCtx.Err() != nil, errors.As(err, &network) && network.Timeout():
		return ports.WebhookResponse{Outcome: event.TimedOut, Error: "no response in time"}
	default:
		return ports.WebhookResponse{Outcome: event.Unreachable, Error: describeError(err)}
	}
}

// isOurs reports whether a connection failed because this machine lacks a resource.
func isOurs(err error) bool {
	for _, ours := range []error{
		syscall.EMFILE, syscall.ENFILE, // open files
		syscall.ENOMEM, syscall.ENOBUFS, // memory
		syscall.EADDRNOTAVAIL, // local ports
	} {
		if errors.Is(err, ours) {
			return true
		}
	}
	return false
}

// describeError describes an error for the platform that owns the endpoint. It says what the platform
// can correct, and nothing about our side of the connection.
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
		return "the TLS handshake failed"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host cannot be reached"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed without a response"
	default:
		return "no valid HTTP response"
	}
}

func shortReason(text string) string {
	text = strings.TrimPrefix(text, "x509: ")
	return sanitize([]byte(text[:min(len(text), 200)]))
}
