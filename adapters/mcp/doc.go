// Package mcp offers the operations of an agent as tools of the Model Context Protocol, so that a language model
// can pay for a customer under the agent's policy.
//
// It is a client of the service's HTTP interface, with the access token of one agent for each session. It opens no
// database and decides nothing: what an agent may do is decided by the service, at each call.
//
// What a model gets is written for it: a summary in the words of this package, and then what the service returned,
// marked as data (data.go), because other people wrote parts of it.
package mcp
