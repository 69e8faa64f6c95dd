"""What may come in: redaction, the spool, edit shapes, transcripts. Standard library only on the hook path."""
