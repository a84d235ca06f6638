// Package tracing names the distributed trace that something belongs to, so that what is done later, in another process, is
// part of it.
package tracing

// Context is the place of something in a trace, as a traceparent of W3C Trace Context, such as
// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". It is empty without tracing.
type Context string

// ID returns the id of the trace, 32 hexadecimal digits; empty without tracing.
func (c Context) ID() string {
	const begin, end = len("00-"), len("00-") + 32
	if len(c) < end {
		return ""
	}
	return string(c[begin:end])
}
