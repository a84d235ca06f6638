package httpapi

// Text is the body type of an operation that answers plain text. Its refusals are the
// same objects as everywhere.
type Text string

const textType = "text/plain; charset=utf-8"
