// Package mails composes the mails and text messages to customers, and adds them to the queue in the unit of
// work that they are about. Package app/mail sends them.
//
// A mail is in English, in plain text and HTML, under the name and the logo of the platform. Nothing in
// it is loaded from elsewhere but the logo, and nothing tells who has read it.
package mails
