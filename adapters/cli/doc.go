// Package cli implements the command line: it parses arguments, calls the use cases that the HTTP API calls, and prints what
// they return. It decides nothing itself, and knows no other adapter: main opens the services on a database for it.
package cli
